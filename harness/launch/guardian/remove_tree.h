/* remove_tree.h: rm -rf of one directory, never through a link or onto another file system. */
#ifndef RANKFAULT_GUARDIAN_REMOVE_TREE_H
#define RANKFAULT_GUARDIAN_REMOVE_TREE_H

/* 0 when it is gone; else -1 and errno of the first refusal. */
int rf_remove_tree(const char* path);

#endif

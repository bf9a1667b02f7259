# join.cmake: joins the modules of the page's script to one file, and writes the hashes for its
# Content-Security-Policy. Usage: cmake -DMODULES=LIST -DCSS=FILE -DD3=FILE -DOUT=FOLDER -P join.cmake
set(script "\"use strict\";\n")
foreach(module ${MODULES})
  file(READ ${module} text)
  string(APPEND script "${text}")
endforeach()
file(WRITE ${OUT}/page.js "${script}")
file(SHA256 ${OUT}/page.js js)
file(SHA256 ${CSS} css)
file(SHA256 ${D3} d3)
file(WRITE ${OUT}/page_hashes.h
     "// page_hashes: SHA-256 of the page's files; written by html/join.cmake.\n"
     "#define RANKFAULT_PAGE_JS_SHA256 \"${js}\"\n"
     "#define RANKFAULT_PAGE_CSS_SHA256 \"${css}\"\n"
     "#define RANKFAULT_PAGE_D3_SHA256 \"${d3}\"\n")

from rankfault import main

main()

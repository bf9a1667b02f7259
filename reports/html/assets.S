/* assets: the bytes of the page's style, its script and d3, which CMake names, for assets.cc. */
	.section .rodata
	.global rankfault_page_css, rankfault_page_css_end
	.global rankfault_page_js, rankfault_page_js_end
	.global rankfault_page_d3, rankfault_page_d3_end
rankfault_page_css:
	.incbin RANKFAULT_PAGE_CSS
rankfault_page_css_end:
	.byte 0
rankfault_page_js:
	.incbin RANKFAULT_PAGE_JS
rankfault_page_js_end:
	.byte 0
rankfault_page_d3:
	.incbin RANKFAULT_PAGE_D3
rankfault_page_d3_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits

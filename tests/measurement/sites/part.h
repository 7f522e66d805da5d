/* What the shared library and the plugin of sites.c offer. The functions must stay functions, and their calls calls. */
#define OWN_FUNCTION __attribute__((noinline, noclone))
void in_library(void);
void in_plugin(void);

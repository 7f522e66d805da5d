/* Regions of your program in its traces: begin and end of whatever you want to see in the report.

     ELG_USER_START("solve");              a region with this name ...
     ELG_USER_END("solve");                ... and its end; both in the same thread, properly nested
     ELG_FUNC_START(); ... ELG_FUNC_END();  the same, named after the function
     ELG_USER_REGION("solve");             C++: up to the end of the scope

   Nothing needs to be linked: without the measurement library the calls do nothing. Compile with
   -DELG_DISABLE and they are not even there. A name is best a string literal; any other is looked
   up by its text each time (some ten nanoseconds), and need not live longer than the call. Fortran:
   elg_user.inc. */
#ifndef ELG_USER_H
#define ELG_USER_H

#ifdef __cplusplus
extern "C" {
#endif

struct elg_region {
  const char* name;
  const char* file;
  int line;
};

/* Defined by the measurement library; null where it is not there. The second is for names that are
   no literals: it gives a copy of the name, or null. */
extern void elg_region_begin(const struct elg_region* region) __attribute__((weak));
extern const char* elg_region_begin_named(const char* name, const char* file, int line)
    __attribute__((weak));
extern void elg_region_end(const char* name) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#ifdef ELG_DISABLE

#define ELG_USER_START(name) ((void)0)
#define ELG_USER_END(name) ((void)0)
#define ELG_USER_REGION(name) ((void)0)
#define ELG_FUNC_START() ((void)0)
#define ELG_FUNC_END() ((void)0)

#else

/* Whether a text that the preprocessor made of an argument is that of a literal: the compiler
 * knows. */
#define ELG_IS_LITERAL_(text) ((text)[0] == '"' && (text)[sizeof(text) - 2] == '"')
/* What a constant is made of, and nothing where the argument is none. */
#ifdef __cplusplus
#define ELG_CONSTANT_(name, text) (ELG_IS_LITERAL_(text) ? (name) : 0)
#else
#define ELG_CONSTANT_(name, text) \
  __builtin_choose_expr(__builtin_constant_p(name), (name), (const char*)0)
#endif
#define ELG_START_LITERAL_(region_name)                                           \
  do {                                                                            \
    static const struct elg_region elg_here_ = {region_name, __FILE__, __LINE__}; \
    if (elg_region_begin) elg_region_begin(&elg_here_);                           \
  } while (0)
/* The argument is expanded before its text is taken. */
#define ELG_START_(region_name, text)                                  \
  do {                                                                 \
    if (ELG_IS_LITERAL_(text)) {                                       \
      ELG_START_LITERAL_(ELG_CONSTANT_(region_name, text));            \
    } else if (elg_region_begin_named) {                               \
      (void)elg_region_begin_named((region_name), __FILE__, __LINE__); \
    }                                                                  \
  } while (0)
#define ELG_TEXT_(argument) #argument
#define ELG_EXPANDED_(region_name) ELG_START_(region_name, ELG_TEXT_(region_name))
#define ELG_USER_START(region_name) ELG_EXPANDED_(region_name)
#define ELG_USER_END(region_name)                      \
  do {                                                 \
    if (elg_region_end) elg_region_end((region_name)); \
  } while (0)

#ifdef __cplusplus
namespace elg_detail {
class Scope {
 public:
  Scope(bool literal, const elg_region& region, const char* name) : name_(name) {
    if (literal) {
      if (elg_region_begin) elg_region_begin(&region);
    } else {
      name_ = elg_region_begin_named ? elg_region_begin_named(name, region.file, region.line) : 0;
    }
  }
  ~Scope() {
    if (elg_region_end && name_) elg_region_end(name_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const char* name_;
};
}  // namespace elg_detail
#define ELG_JOINED_(a, b) a##b
#define ELG_JOINED(a, b) ELG_JOINED_(a, b)
#define ELG_REGION_(region_name, text)                                                           \
  static const elg_region ELG_JOINED(elg_region_, __LINE__) = {ELG_CONSTANT_(region_name, text), \
                                                               __FILE__, __LINE__};              \
  const elg_detail::Scope ELG_JOINED(elg_scope_, __LINE__)(                                      \
      ELG_IS_LITERAL_(text), ELG_JOINED(elg_region_, __LINE__), (region_name))
#define ELG_EXPANDED_REGION_(region_name) ELG_REGION_(region_name, ELG_TEXT_(region_name))
#define ELG_USER_REGION(region_name) ELG_EXPANDED_REGION_(region_name)
#endif

#define ELG_FUNC_START() ELG_START_LITERAL_(__func__)
#define ELG_FUNC_END() ELG_USER_END(__func__)

#endif

#endif

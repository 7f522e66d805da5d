/* Regions of your program in its traces: begin and end of whatever you want to see in the report.

     ELG_USER_START("solve");              a region with this name ...
     ELG_USER_END("solve");                ... and its end; both in the same thread, properly nested
     ELG_FUNC_START(); ... ELG_FUNC_END();  the same, named after the function
     ELG_USER_REGION("solve");             C++: up to the end of the scope

   Nothing needs to be linked: without the measurement library the calls do nothing. Compile with
   -DELG_DISABLE and they are not even there. Names must be string literals, or live as long as the
   program. Fortran: elg_user.inc. */
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

/* Defined by the measurement library; null where it is not there. */
extern void elg_region_begin(const struct elg_region* region) __attribute__((weak));
extern void elg_region_end(const char* name) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#ifdef ELG_DISABLE

#define ELG_USER_START(name) ((void)0)
#define ELG_USER_END(name) ((void)0)
#define ELG_USER_REGION(name) ((void)0)

#else

#define ELG_USER_START(region_name)                                                 \
  do {                                                                              \
    static const struct elg_region elg_here_ = {(region_name), __FILE__, __LINE__}; \
    if (elg_region_begin) elg_region_begin(&elg_here_);                             \
  } while (0)
#define ELG_USER_END(region_name)                      \
  do {                                                 \
    if (elg_region_end) elg_region_end((region_name)); \
  } while (0)

#ifdef __cplusplus
namespace elg_detail {
class Scope {
 public:
  explicit Scope(const elg_region& region) : name_(region.name) {
    if (elg_region_begin) elg_region_begin(&region);
  }
  ~Scope() {
    if (elg_region_end) elg_region_end(name_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const char* name_;
};
}  // namespace elg_detail
#define ELG_JOINED_(a, b) a##b
#define ELG_JOINED(a, b) ELG_JOINED_(a, b)
#define ELG_USER_REGION(region_name)                                                               \
  static const elg_region ELG_JOINED(elg_region_, __LINE__) = {(region_name), __FILE__, __LINE__}; \
  const elg_detail::Scope ELG_JOINED(elg_scope_, __LINE__)(ELG_JOINED(elg_region_, __LINE__))
#endif

#endif

#define ELG_FUNC_START() ELG_USER_START(__func__)
#define ELG_FUNC_END() ELG_USER_END(__func__)

#endif

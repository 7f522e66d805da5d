// One inclusion of records.def in which only KOJAK_RECORD(type, Struct, NAME, kind) means
// something, which the includer defines; fields are passed over. No include guard: it goes with
// every inclusion.
#define KOJAK_EFFECT(effect)
#define KOJAK_FIELD(Type, name, doc)
#define KOJAK_FIELD_SINCE(since, Type, name, doc)
#define KOJAK_FIELD_NATIVE(Type, name, doc)
#define KOJAK_FIELD_LATER(Type, name, doc)
#define KOJAK_ARRAY(Type, count, name, doc)
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc)
#define KOJAK_REST(Type, name, doc)
#define KOJAK_TEXT(name, doc)
#define KOJAK_METRICS(name)
#define KOJAK_RECORD_END(dialect, doc)
#include "epilog/format/record/records.def"
#include "epilog/format/record/records_undef.h"

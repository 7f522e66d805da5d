// Ends one inclusion of records.def. No include guard: it goes with every inclusion.
#undef KOJAK_RECORD
#undef KOJAK_EFFECT
#undef KOJAK_FIELD
#undef KOJAK_DEFINES
#undef KOJAK_KNOWN
#undef KOJAK_OPTIONAL
#undef KOJAK_CODE
#undef KOJAK_FIELD_SINCE
#undef KOJAK_FIELD_NATIVE
#undef KOJAK_FIELD_LATER
#undef KOJAK_ARRAY
#undef KOJAK_ARRAY_SINCE
#undef KOJAK_REST
#undef KOJAK_TEXT
#undef KOJAK_METRICS
#undef KOJAK_RECORD_END

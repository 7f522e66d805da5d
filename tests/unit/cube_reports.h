// Small reports as text, for the tests of reader, differences and pages.
#pragma once

#include <fstream>
#include <string>

namespace kojak::test {

// A file in the test's own directory.
inline std::string write_file(const std::string& name, const std::string& text) {
  const std::string path = std::string(KOJAK_BINARY_DIR) + "/tests/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline std::string metric(int id, const std::string& name, const std::string& inside = "",
                          const std::string& unit = "sec") {
  return "<metric id=\"" + std::to_string(id) + "\"><disp_name>" + name +
         "</disp_name><uniq_name>" + name + "</uniq_name><dtype>FLOAT</dtype><uom>" + unit +
         "</uom><url></url><descr></descr>" + inside + "</metric>";
}

inline std::string region(int id, const std::string& name) {
  return "<region id=\"" + std::to_string(id) + "\" mod=\"a.c\" begin=\"1\" end=\"9\"><name>" +
         name + "</name><url></url><descr></descr></region>";
}

// `locations` processes of one thread each on one node.
inline std::string system_of(int locations) {
  std::string text = "<machine Id=\"0\"><name>m</name><node Id=\"0\"><name>n</name>";
  for (int i = 0; i < locations; ++i) {
    const std::string id = std::to_string(i);
    text += "<process Id=\"" + id + "\"><name>p</name><rank>" + id + "</rank><thread Id=\"" + id +
            "\"><name>t</name><rank>0</rank></thread></process>";
  }
  return text + "</node></machine>";
}

inline std::string report(const std::string& metrics, const std::string& program,
                          const std::string& system, const std::string& severity) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"3.0\">\n<metrics>" + metrics +
         "</metrics>\n<program>" + program + "</program>\n<system>" + system +
         "</system>\n<severity>" + severity + "</severity>\n</cube>\n";
}

// Time with one pattern below it; main calls work and MPI_Recv; two ranks.
inline std::string small_report() {
  return report(
      metric(0, "time", metric(1, "wait")),
      region(0, "main") + region(1, "work") + region(2, "MPI_Recv") +
          "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\" line=\"5\" "
          "mod=\"a.c\"></cnode><cnode id=\"2\" calleeId=\"2\" line=\"7\" "
          "mod=\"a.c\"></cnode></cnode>",
      system_of(2),
      "<matrix metricId=\"0\"><row cnodeId=\"0\">\n1\n2\n</row><row cnodeId=\"2\">\n4\n8\n"
      "</row></matrix><matrix metricId=\"1\"><row "
      "cnodeId=\"2\">\n0.5\n8\n</row></matrix>");
}

}  // namespace kojak::test

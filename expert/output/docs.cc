#include "expert/output/docs.h"

#include <vector>

#include "expert/output/terminal.h"
#include "expert/output/timeline_drawing.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const Metric* find(std::string_view name) {
  for (const Metric& metric : all_metrics()) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

unsigned depth_of(const Metric& metric) {
  unsigned depth = 0;
  for (const Metric* m = find(metric.parent); m != nullptr; m = find(m->parent)) ++depth;
  return depth;
}

std::vector<const Metric*> children_of(const Metric& metric) {
  std::vector<const Metric*> children;
  for (const Metric& m : all_metrics()) {
    if (m.parent == metric.name) children.push_back(&m);
  }
  return children;
}

}  // namespace

std::string patterns_html() {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Performance patterns of kojak</title>\n<style>\n"
      "body { font-family: sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;"
      " line-height: 1.5; }\n"
      "h2 { margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem; }\n"
      "h2 small { font-weight: normal; color: #666; }\n"
      "pre { background: #f2f2f2; padding: 0.5em; overflow-x: auto; line-height: 1.2; }\n"
      "code { background: #f2f2f2; padding: 0 0.2em; }\n"
      "</style>\n</head>\n<body>\n<h1>Performance patterns of kojak</h1>\n"
      "<p>Each metric of a report, in the order of its tree. A severity counts for a metric, a "
      "call path and a process or thread. In the formulas, overlap(c, [a, b]) is the time of call "
      "c within [a, b]; blocked(c, causes) is the time from c's beginning to the latest of the "
      "causes that came before c ended. In the drawings a call goes from [ to ], and ~ is what the "
      "metric counts.</p>\n";
  unsigned open = 0;
  for (const Metric& metric : all_metrics()) {
    const unsigned depth = depth_of(metric) + 1;
    for (; open < depth; ++open) out += "<ul>\n";
    for (; open > depth; --open) out += "</ul>\n";
    out += "<li><a href=\"#" + escaped(metric.name) + "\">" + escaped(metric.title) + "</a></li>\n";
  }
  for (; open > 0; --open) out += "</ul>\n";
  for (const Metric& metric : all_metrics()) {
    out += "<h2 id=\"" + escaped(metric.name) + "\">" + escaped(metric.title) + " <small>" +
           escaped(metric.name) + ", " + unit_word(metric.unit) + "</small></h2>\n";
    out += "<p><strong>" + escaped(metric.summary) + "</strong></p>\n";
    if (!metric.meaning.empty()) out += "<p>" + escaped(metric.meaning) + "</p>\n";
    if (!metric.formula.empty()) {
      out += "<p>Severity: <code>" + escaped(metric.formula) + "</code></p>\n";
    }
    if (!metric.timeline.empty()) {
      out += "<pre>" + escaped(draw_timeline(metric.timeline)) + "</pre>\n";
    }
    if (!metric.advice.empty()) {
      out += "<p><em>What to do:</em> " + escaped(metric.advice) + "</p>\n";
    }
    if (const Metric* parent = find(metric.parent)) {
      out += "<p>Part of <a href=\"#" + escaped(parent->name) + "\">" + escaped(parent->title) +
             "</a>.</p>\n";
    }
  }
  return out + "</body>\n</html>\n";
}

std::string pattern_page(const Metric& metric) {
  std::string out = "# " + std::string(metric.title) + "\n\n`" + std::string(metric.name) + "`, " +
                    unit_word(metric.unit) + "\n\n**" + std::string(metric.summary) + "**\n";
  const auto link = [](const Metric& m) {
    return "[" + std::string(m.title) + "](" + std::string(m.name) + ".md)";
  };
  if (!metric.meaning.empty()) out += "\n" + wrapped(std::string(metric.meaning), 100, 0);
  if (!metric.formula.empty()) {
    out += "\n## Severity\n\n```\n" + wrapped(std::string(metric.formula), 100, 0) + "```\n";
  }
  if (!metric.timeline.empty()) {
    out +=
        "\n## Example\n\nA call is drawn from `[` to `]`; `~` is what the metric counts.\n\n```\n" +
        draw_timeline(metric.timeline) + "```\n";
  }
  if (!metric.advice.empty()) {
    out += "\n## What to do\n\n" + wrapped(std::string(metric.advice), 100, 0);
  }
  out += "\n## In the tree\n\n";
  if (const Metric* parent = find(metric.parent)) {
    out += "Part of " + link(*parent) + ".\n";
  } else {
    out += "A root of the tree.\n";
  }
  const std::vector<const Metric*> children = children_of(metric);
  if (!children.empty()) out += "\nIts parts:\n\n";
  for (const Metric* child : children) {
    out += "- " + link(*child) + ": " + std::string(child->summary) + "\n";
  }
  return out;
}

std::string pattern_index() {
  std::string out = "# The metrics of a report\n\n";
  for (const Metric& metric : all_metrics()) {
    out += std::string(2 * depth_of(metric), ' ') + "- [" + std::string(metric.title) + "](" +
           std::string(metric.name) + ".md): " + std::string(metric.summary) + "\n";
  }
  return out;
}

std::string pattern_list(unsigned width) {
  std::string out;
  for (const Metric& metric : all_metrics()) {
    const unsigned indent = 2 * depth_of(metric);
    out += std::string(indent, ' ') + std::string(metric.title) + " (" + std::string(metric.name) +
           ")\n";
    out += wrapped(std::string(metric.summary), width, indent + 4);
  }
  return out;
}

}  // namespace kojak::expert

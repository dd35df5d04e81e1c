#include "cli/render/workflow_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/render/table.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kWidest = 100;  // columns of boxes that stand side by side
constexpr std::size_t kLongestName = 40;

std::string ConditionText(const Json& condition) {
  const std::string type = condition.is_object() ? condition.value("type", "") : "";
  if (type == "not") return "not " + ConditionText(condition.value("condition", Json()));
  if (type != "and" && type != "or") return Printable(type, kLongestName);
  std::string text;
  for (const Json& one : condition.value("conditions", Json::array())) {
    text += (text.empty() ? "" : " " + type + " ") + ConditionText(one);
  }
  return "(" + text + ")";
}

// "after build (succeeded), lint (always)"; empty: after nothing.
std::string After(const std::vector<DependsOn>& dependencies) {
  std::vector<std::string> texts;
  for (const DependsOn& one : dependencies) {
    texts.push_back(fmt::format("{} ({})", Printable(one.on, kLongestName), ConditionText(one.condition)));
  }
  return texts.empty() ? std::string() : "after " + Join(texts, ", ");
}

// How many nodes have to come before each, one after the other. What waits for itself, or for something that doesn't exist,
// is drawn all the same (`workflow validate` tells about it).
template <typename Node>
std::vector<std::size_t> LevelsOf(const std::vector<Node>& nodes) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) places.emplace(nodes[i].name, i);
  std::vector<std::size_t> levels(nodes.size(), 0);
  for (std::size_t round = 0; round < nodes.size(); ++round) {
    bool changed = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const DependsOn& one : nodes[i].depends_on) {
        const auto place = places.find(one.on);
        if (place == places.end() || place->second == i || levels[place->second] + 1 <= levels[i]) continue;
        levels[i] = std::min(levels[place->second] + 1, nodes.size() - 1);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return levels;
}

// The order of the levels, within one that of the document.
template <typename Node>
std::vector<const Node*> InOrder(const std::vector<Node>& nodes) {
  const std::vector<std::size_t> levels = LevelsOf(nodes);
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return levels[a] < levels[b]; });
  std::vector<const Node*> sorted;
  for (const std::size_t i : order) sorted.push_back(&nodes[i]);
  return sorted;
}

std::string Repeat(std::string_view text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

std::string PadTo(std::string text, std::size_t width) {
  const std::size_t used = DisplayWidth(text);
  return text + std::string(width > used ? width - used : 0, ' ');
}

struct Box {
  std::vector<std::string> lines;  // the edges among them
  std::size_t width = 0;
};

Box BoxOf(const Job& job) {
  std::vector<std::string> inside = {Printable(job.name, kLongestName)};
  if (const std::string after = After(job.depends_on); !after.empty()) inside.push_back(after);
  const std::size_t head = inside.size();
  for (const Step* step : InOrder(job.steps)) {
    inside.push_back(fmt::format("{} [{}]", Printable(step->name, kLongestName), step->task_type()));
    if (const std::string after = After(step->depends_on); !after.empty()) inside.push_back("  " + after);
  }
  std::size_t width = 0;
  for (const std::string& line : inside) width = std::max(width, DisplayWidth(line));
  Box box{.width = width + 4};
  box.lines.push_back("┌" + Repeat("─", width + 2) + "┐");
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (i == head) box.lines.push_back("├" + Repeat("─", width + 2) + "┤");
    box.lines.push_back("│ " + PadTo(inside[i], width) + " │");
  }
  box.lines.push_back("└" + Repeat("─", width + 2) + "┘");
  return box;
}

std::string WithoutTrailingBlanks(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1) + "\n"; }

// Boxes side by side; `arrows`: each has something above it.
std::string DrawRow(const std::vector<Box>& row, bool arrows) {
  std::size_t height = 0;
  std::string arrow_line;
  for (const Box& box : row) {
    height = std::max(height, box.lines.size());
    arrow_line += PadTo(std::string(box.width / 2, ' ') + "▼", box.width + 2);
  }
  std::string text = arrows ? WithoutTrailingBlanks(arrow_line) : std::string();
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (const Box& box : row) line += PadTo(i < box.lines.size() ? box.lines[i] : std::string(), box.width + 2);
    text += WithoutTrailingBlanks(line);
  }
  return text;
}

}  // namespace

std::string DrawWorkflow(const Workflow& workflow) {
  const std::vector<std::size_t> levels = LevelsOf(workflow.jobs);
  const std::size_t last = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  std::string text = Printable(workflow.name, 80) + "\n";
  for (std::size_t level = 0; level <= last; ++level) {
    std::vector<Box> row;
    std::size_t width = 0;
    for (std::size_t i = 0; i < workflow.jobs.size(); ++i) {
      if (levels[i] != level) continue;
      Box box = BoxOf(workflow.jobs[i]);
      if (!row.empty() && width + box.width > kWidest) {
        text += DrawRow(row, level > 0);
        row.clear();
        width = 0;
      }
      width += box.width + 2;
      row.push_back(std::move(box));
    }
    if (!row.empty()) text += DrawRow(row, level > 0);
  }
  return text;
}

}  // namespace swamp

#include "report/drawing/html_page.h"

#include <fmt/format.h>

#include <cctype>

#include "report/drawing/category_style.h"
#include "report/drawing/pass_style.h"
#include "report/drawing/text_style.h"

namespace orrery {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#141a21;--soft:#5b6672;--line:#e3e7ec;
--grid:#e9edf1;--accent:#2f6fde;--inside:#fff;--good:#2b8a3e;--warn:#c77700;--bad:#d6303a;
--tip:#141a21;--tip-ink:#fff}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#151b23;--ink:#e8edf3;--soft:#98a4b1;
--line:#28313c;--grid:#222b35;--accent:#5b93f5;--inside:#0b1016;--good:#57c26f;--warn:#f0ad3c;--bad:#ff6b6f;
--tip:#e8edf3;--tip-ink:#10151b}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",
Roboto,Lato,"Helvetica Neue",Arial,sans-serif;-webkit-font-smoothing:antialiased}
main{max-width:1180px;margin:0 auto;padding:40px 24px 64px}
header{margin-bottom:26px}
.eyebrow{font-size:12px;letter-spacing:.14em;text-transform:uppercase;color:var(--soft);font-weight:600}
h1{font-size:34px;line-height:1.15;letter-spacing:-.02em;margin:6px 0 4px;font-weight:680;overflow-wrap:anywhere}
h1 span{color:var(--soft);font-weight:450}
h2{font-size:18px;letter-spacing:-.01em;margin:0;font-weight:650}
h3{font-size:14px;margin:22px 0 8px;font-weight:620}
.remark{color:var(--soft);font-size:13.5px;margin:2px 0 16px}
.chips{display:flex;flex-wrap:wrap;gap:6px;margin-top:14px}
.chip{background:var(--card);border:1px solid var(--line);border-radius:99px;padding:3px 11px;font-size:13px;
font-variant-numeric:tabular-nums;white-space:nowrap}
.chip b{font-weight:620}.chip i{color:var(--soft);font-style:normal;margin-right:5px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px;margin:0 0 14px}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:14px}
.tile{padding:15px 18px 14px}
.tile .name{color:var(--soft);font-size:13px}
.tile .value{font-size:28px;letter-spacing:-.02em;font-weight:660;font-variant-numeric:tabular-nums;line-height:1.25}
.tile .value small{font-size:15px;font-weight:500;color:var(--soft);letter-spacing:0;margin-left:3px}
.tile .more{color:var(--soft);font-size:13px}
.meter{height:6px;border-radius:3px;background:var(--grid);margin:8px 0 6px;overflow:hidden}
.meter div{height:100%;border-radius:3px;background:var(--good)}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.meter .warn{background:var(--warn)}.meter .bad{background:var(--bad)}
.finding{border-left:3px solid var(--accent);padding:11px 16px;background:var(--card);border-radius:4px 12px 12px 4px;
margin:0 0 14px;border-top:1px solid var(--line);border-right:1px solid var(--line);border-bottom:1px solid var(--line)}
section{padding:22px 24px 24px;margin-bottom:14px;position:relative}
[hidden]{display:none!important}
.scroll{overflow-x:auto}
svg.chart{display:block;width:100%;height:auto;overflow:visible}
svg text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
svg .end{text-anchor:end}svg .middle{text-anchor:middle}
svg text.inside{fill:var(--inside);font-weight:560;pointer-events:none}
svg text.pass{font-size:11px;text-anchor:middle;pointer-events:none}
svg text.small{font-size:8.5px}
svg text.note,svg text.strong,svg text.limit-label{fill:var(--ink);font-weight:600}
svg text.limit-label{fill:var(--bad)}
svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--soft);stroke-opacity:.5}
svg .limit{stroke:var(--bad);stroke-width:1.6;stroke-dasharray:7 5}
svg .front{fill:none;stroke:var(--accent);stroke-opacity:.45;stroke-width:1.6}
svg .roof{stroke:var(--ink);stroke-opacity:.55;stroke-width:1.6}
svg .bubble{fill-opacity:.72;stroke:var(--card);stroke-width:1}
svg .over{fill:none!important;stroke-width:1.6}
svg .band{fill:var(--ink);fill-opacity:0}svg .band:hover{fill-opacity:.06}
svg .halo{paint-order:stroke;stroke:var(--card);stroke-width:3.5px;stroke-linejoin:round}
svg text.small-tick{font-size:11.5px;fill:var(--ink)}
svg .body{fill-opacity:.82}svg .shade{fill-opacity:.13}
svg .mark{stroke:var(--ink);stroke-opacity:.55;stroke-width:1.2;stroke-dasharray:4 3}
svg .deadline{stroke:var(--warn);stroke-width:2}
svg .thick{stroke-width:2.4}svg .dashes{stroke-dasharray:6 4;stroke-width:2}
svg .point{stroke:var(--card);stroke-width:2}
svg rect[data-tip]:hover,svg circle:hover{filter:brightness(1.12)}
svg .page{fill:var(--card)}
svg .way{fill:var(--ink);fill-opacity:.6;pointer-events:none}
.finding a{color:var(--accent);white-space:nowrap}
.interval{color:var(--soft);font-size:13.5px;margin:0 2px 14px}.interval b{color:var(--ink);font-weight:620;
margin-right:6px}
.finding b{display:block;font-weight:640}.finding .cost{float:right;font-size:20px;font-weight:660;
letter-spacing:-.01em;margin-left:16px}.finding p{margin:3px 0 0;color:var(--soft);font-size:14px}
.finding p.advice{color:var(--ink)}
td.stack{width:34%}td.stack div{display:flex;height:15px;border-radius:4px;overflow:hidden;margin-top:3px}
td.stack i{display:block;background:var(--swatch)}td.stack i:hover{filter:brightness(1.12)}
table.heat{width:auto}table.heat td,table.heat th{padding:5px 12px;text-align:right;white-space:nowrap}
.half{min-width:0}.columns,.pan{margin-bottom:14px}
.legend{display:flex;flex-wrap:wrap;gap:5px 18px;font-size:13px;color:var(--soft);margin:12px 0 0}
.legend span::before,td.key::before{content:"";display:inline-block;width:10px;height:10px;border-radius:3px;
margin-right:7px;background:var(--swatch)}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:500;font-size:12.5px;text-align:left;padding:5px 14px 6px 0;
border-bottom:1px solid var(--line);white-space:nowrap}
td{padding:5px 14px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top}
td[data-tip]{overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
.n{text-align:right;white-space:nowrap}
tr.group td{font-weight:640;padding-top:11px}
tr.part td.key{padding-left:18px}
tr.total td{font-weight:680;border-top:1px solid var(--soft)}
tr.best td{font-weight:640}
td.bar{width:38%;padding-right:0}
td.bar div{height:11px;border-radius:3px;background:var(--swatch);margin-top:5px;min-width:1px}
td.bar.mini{width:17%;padding-right:14px}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:0 36px}
details{border-top:1px solid var(--grid)}
details:first-of-type{border-top:0}
summary{cursor:pointer;padding:8px 0;font-weight:560;display:flex;gap:12px;justify-content:space-between}
summary output{font-weight:500;color:var(--soft);font-variant-numeric:tabular-nums}
p code{overflow-wrap:anywhere}
details p{margin:0 0 10px;padding-left:2px;overflow-wrap:anywhere}
code{font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.source{color:var(--soft);font-size:13px}
ul.assumed{columns:2;column-gap:36px;padding-left:18px;margin:10px 0 0}
ul.assumed li{break-inside:avoid;margin-bottom:3px}
.zoom{position:absolute;right:24px;top:22px;color:var(--soft);font-size:13px;display:flex;gap:8px;align-items:center}
.zoom input{width:150px;accent-color:var(--accent)}
.tip{position:fixed;left:0;top:0;z-index:9;pointer-events:none;opacity:0;background:var(--tip);color:var(--tip-ink);
font-size:13px;padding:5px 10px;border-radius:7px;max-width:420px;transition:opacity .1s;
font-variant-numeric:tabular-nums}
footer{color:var(--soft);font-size:13px;margin-top:22px}
@media print{body{background:#fff}section,.tile{break-inside:avoid}.zoom{display:none}}
@media (max-width:640px){ul.assumed{columns:1}.columns{grid-template-columns:1fr}main{padding:20px 12px}
section{padding:18px 15px}.half{overflow-x:auto}.half svg.chart{min-width:390px}.half+.half{margin-top:12px}.pan{overflow-x:auto}
.pan svg.chart{min-width:760px}}
)css";

// Tooltips for everything with data-tip, and the zoom of the pipeline: x coordinates are
// multiplied, so that text keeps its shape and appears where it now fits.
constexpr std::string_view kScript = R"js(
(() => {
  const tip = document.createElement('div');
  tip.className = 'tip';
  document.body.append(tip);
  addEventListener('pointermove', e => {
    const t = e.target.closest && e.target.closest('[data-tip]');
    if (!t) { tip.style.opacity = 0; return; }
    tip.textContent = t.dataset.tip;
    tip.style.opacity = 1;
    const x = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = e.clientY + 20 + tip.offsetHeight > innerHeight ? -tip.offsetHeight - 12 : 20;
    tip.style.transform = 'translate(' + Math.max(x, 4) + 'px,' + (e.clientY + below) + 'px)';
  });
  const svg = document.querySelector('svg.pipeline'), slider = document.querySelector('.zoom input');
  if (!svg || !slider) return;
  slider.parentElement.hidden = false;
  const width = +svg.dataset.width, gutter = +svg.dataset.gutter, box = svg.parentElement;
  const height = svg.viewBox.baseVal.height, group = svg.querySelector('.gutter');
  const moving = [];
  for (const r of svg.querySelectorAll(':scope > rect')) {
    moving.push([r, 'x', +r.getAttribute('x'), +r.getAttribute('width')]);
  }
  for (const t of svg.querySelectorAll(':scope > text.tick')) moving.push([t, 'x', +t.getAttribute('x'), 0]);
  for (const l of svg.querySelectorAll(':scope > line')) moving.push([l, 'line', +l.getAttribute('x1'), 0]);
  const follow = () => group.setAttribute('transform',
    'translate(' + box.scrollLeft * svg.viewBox.baseVal.width / svg.clientWidth + ',0)');
  const zoom = z => {
    svg.setAttribute('viewBox', '0 0 ' + width * z + ' ' + height);
    svg.style.width = 100 * z + '%';
    for (const t of svg.querySelectorAll('text.pass')) t.remove();
    for (const [e, kind, x, w] of moving) {
      const at = gutter + (x - gutter) * z;
      if (kind === 'line') { e.setAttribute('x1', at); e.setAttribute('x2', at); continue; }
      e.setAttribute('x', at);
      if (!w) continue;
      e.setAttribute('width', w * z);
      const m = e.dataset.m;
      if (m === undefined || m.length * 6.2 + 4 > w * z || +e.getAttribute('height') < 11) continue;
      const t = document.createElementNS(svg.namespaceURI, 'text');
      t.setAttribute('class', 'pass n-' + e.className.baseVal);
      t.setAttribute('x', at + w * z / 2);
      t.setAttribute('y', +e.getAttribute('y') + e.getAttribute('height') / 2 + 4);
      t.textContent = m;
      svg.insertBefore(t, group);
    }
    follow();
  };
  slider.addEventListener('input', () => zoom(2 ** slider.value));
  box.addEventListener('scroll', follow);
})();
)js";

// "--bubble:#a3acb5;" for every line of a breakdown and every part of memory.
std::string variables(std::string_view Swatch::* colour) {
  std::string out;
  for (std::size_t i = 0; i < kCategories; ++i) {
    const auto c = static_cast<Category>(i);
    out += fmt::format("--{}:{};", to_text(c), swatch(c).*colour);
  }
  for (const MemoryPart& part : parts_of({})) {
    out += fmt::format("--memory-{}:{};", part.key, part.swatch.*colour);
  }
  return out;
}

std::string classes() {
  std::string out;
  for (const std::string_view key : {"accent", "good", "bad", "soft", "ink"}) {
    out += fmt::format(".c-{}{{fill:var(--{})}}.o-{}{{stroke:var(--{})}}", key, key, key, key);
  }
  for (std::size_t i = 0; i < kCategories; ++i) {
    const std::string_view key = to_text(static_cast<Category>(i));
    out += fmt::format(".c-{}{{fill:var(--{})}}.o-{}{{stroke:var(--{})}}", key, key, key, key);
  }
  for (const MemoryPart& part : parts_of({})) {
    out += fmt::format(".c-memory-{}{{fill:var(--memory-{})}}", part.key, part.key);
  }
  return out + run_rules();
}

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}:root{{{}}}\n{}\n"
      "@media (prefers-color-scheme:dark){{:root{{{}}}\n{}}}\n{}</style>\n</head>\n<body>\n"
      "<main>\n{}</main>\n<script>{}</script>\n</body>\n</html>\n",
      html_text(title), kStyle,
      variables(&Swatch::light) + run_variables(&Swatch::light) + pass_variables(Page::light),
      pass_rules(Page::light),
      variables(&Swatch::dark) + run_variables(&Swatch::dark) + pass_variables(Page::dark),
      pass_rules(Page::dark), classes(), body, kScript);
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
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
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_headline(std::string_view what, std::string_view title, std::string_view beside) {
  return fmt::format(
      "<header>\n<div class=\"eyebrow\">Orrery · {}</div>\n<h1>{} "
      "<span>{}</span></h1>\n</header>\n",
      html_text(what), html_text(title), html_text(beside));
}

std::string html_tile_with(std::string_view name, std::string_view value, std::string_view markup) {
  const std::size_t space = std::min(value.find(' '), value.size());
  const std::string_view unit = space < value.size() ? value.substr(space + 1) : "";
  return fmt::format(
      "<div class=\"tile\"><div class=\"name\">{}</div><div "
      "class=\"value\">{}<small>{}</small></div>{}</div>\n",
      html_text(name), html_text(value.substr(0, space)), html_text(unit), markup);
}

std::string html_tile(std::string_view name, std::string_view value, std::string_view more) {
  return html_tile_with(name, value, fmt::format("<div class=\"more\">{}</div>", html_text(more)));
}

namespace {

// The fragment of an address that names a section.
std::string anchor(std::string_view title) {
  std::string out;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return out;
}

}  // namespace

std::string html_section(std::string_view title, std::string_view remark, std::string_view body) {
  return fmt::format(
      "<section id=\"{}\">\n<h2>{}</h2>\n<div class=\"remark\">{}</div>\n{}\n</section>\n",
      anchor(title), html_text(title), html_text(remark), body);
}

std::string html_assumed(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string items;
  for (const std::string& one : sentences) items += "<li>" + html_text(one) + "</li>\n";
  return html_section("Assumed", "defaults that were filled in where nothing was said",
                      "<ul class=\"assumed\">\n" + items + "</ul>");
}

std::string html_link(std::string_view title, std::string_view page) {
  const std::string name = anchor(title);
  if (page.find(fmt::format("<section id=\"{}\">", name)) == std::string_view::npos) return "";
  return fmt::format(" <a href=\"#{}\">{}</a>", name, html_text(title));
}

std::string html_legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "<div class=\"legend\">";
  for (const auto& [label, colour] : entries) {
    out += fmt::format("<span style=\"--swatch:var(--{})\">{}</span>", colour, html_text(label));
  }
  return out + "</div>\n";
}

std::string html_legend(const std::vector<std::pair<std::string, Category>>& entries) {
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [label, colour] : entries) named.emplace_back(label, to_text(colour));
  return html_legend(named);
}

std::string html_halves(std::string_view left, std::string_view right) {
  return fmt::format(
      "<div class=\"columns\"><div class=\"half\">{}</div><div class=\"half\">{}</div></div>\n",
      left, right);
}

std::string html_bar(std::span<const BarSegment> bar) {
  if (bar.size() == 1 && bar[0].tip.empty()) {
    return fmt::format(
        "<td class=\"bar mini\"><div style=\"--swatch:var(--{});width:{:.1f}%\"></div></td>",
        bar[0].css_class, 100 * bar[0].share);
  }
  std::string parts;
  for (const BarSegment& part : bar) {
    if (!(part.share > 0)) continue;
    parts += fmt::format("<i style=\"--swatch:var(--{});width:{:.2f}%\" data-tip=\"{}\"></i>",
                         part.css_class, 100 * part.share, html_text(part.tip));
  }
  return fmt::format("<td class=\"stack\"><div>{}</div></td>", parts);
}

}  // namespace orrery

#include "codegen/common/text_writer.h"

namespace enceladus::codegen {

void TextWriter::line(std::string_view text) {
  text_.append(static_cast<size_t>(2 * depth_), ' ');
  text_ += text;
  text_ += '\n';
}

void TextWriter::blank() { text_ += '\n'; }

void TextWriter::open(std::string_view text) {
  line(std::string(text) + (text.empty() ? "{" : " {"));
  ++depth_;
}

void TextWriter::close(std::string_view rest) {
  --depth_;
  line("}" + std::string(rest));
}

void TextWriter::otherwise() {
  --depth_;
  line("} else {");
  ++depth_;
}

void TextWriter::directive(std::string_view text) {
  text_ += text;
  text_ += '\n';
}

void TextWriter::at(const Location& location) {
  if (!location.known()) return;
  if (place_.file == location.file && place_.line == location.line) return;
  place_ = location;
  std::string_view file = *location.file;
  file = file.substr(file.find_last_of('/') + 1);
  line("// " + std::string(file) + ":" + std::to_string(location.line));
}

}  // namespace enceladus::codegen

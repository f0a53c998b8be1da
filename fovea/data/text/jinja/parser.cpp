#include "fovea/data/text/jinja/parser.h"

#include "fovea/data/text/jinja/expression_parser.h"

namespace fovea::jinja {
namespace {

class Parser final : ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Body run() {
    Body result = body({});
    if (now().kind != Token::end) fail_found("the end of the template");
    return result;
  }

 private:
  using StatementPointer = std::unique_ptr<const Statement>;
  using Ends = std::initializer_list<std::string_view>;

  static Statement statement(Statement::Kind kind, int line) {
    Statement s;
    s.kind = kind;
    s.line = line;
    return s;
  }

  void end_block() {
    if (now().kind != Token::block_end) fail_found("%}");
    take();
  }

  // Up to a tag that begins with one of the names, of which the name is the next token.
  Body body(Ends ends) {
    const Level level(*this);
    Body result;
    while (now().kind != Token::end) {
      const int line = now().line;
      if (now().kind == Token::text) {
        Statement s = statement(Statement::text, line);
        s.name = take().spelling;
        result.push_back(std::make_unique<const Statement>(std::move(s)));
      } else if (now().kind == Token::print_begin) {
        take();
        Statement s = statement(Statement::print, line);
        s.expression = tuple();
        if (now().kind != Token::print_end) fail_found("}}");
        take();
        result.push_back(std::make_unique<const Statement>(std::move(s)));
      } else {
        take();
        for (std::string_view end : ends)
          if (now().is_name(end)) return result;
        result.push_back(std::make_unique<const Statement>(tag()));
        end_block();
      }
    }
    if (ends.size() > 0) fail_found(fmt::format("{{% {} %}}", *(ends.end() - 1)));
    return result;
  }

  // What follows a tag up to its end, whose name is taken.
  Body block(Ends ends) {
    take_if(":");
    end_block();
    return body(ends);
  }
  Body block(std::string_view end) {
    Body result = block({end});
    take();
    return result;
  }

  Statement tag() {
    if (now().kind != Token::name) fail_found("the name of a tag");
    const std::string name = now().spelling;
    if (name == "if") return if_tag();
    if (name == "for") return for_tag();
    if (name == "set") return set_tag();
    if (name == "macro") return macro_tag();
    if (name == "call") return call_tag();
    if (name == "filter") return filter_tag();
    if (name == "with") return with_tag();
    if (name == "generation") return generation_tag();
    if (name == "print") return print_tag();
    if (name == "break" || name == "continue") {
      if (loops_ == 0) fail(fmt::format("found '{}' outside of a loop", name));
      return statement(name == "break" ? Statement::break_ : Statement::continue_, take().line);
    }
    if (name.starts_with("end") || name == "else" || name == "elif")
      fail(fmt::format("found {{% {} %}}, which nothing before it opens", name));
    fail(fmt::format("found the tag '{}', which chat templates do not have", name), Error::unsupported);
  }

  Statement if_tag() {
    Statement s = statement(Statement::if_, take().line);
    while (true) {
      Statement::Branch branch;
      branch.test = tuple({.conditional = false});
      branch.body = block({"elif", "else", "endif"});
      s.branches.push_back(std::move(branch));
      const std::string end = take().spelling;
      if (end == "elif") continue;
      if (end == "else") s.otherwise = block("endif");
      return s;
    }
  }

  Statement for_tag() {
    Statement s = statement(Statement::for_, take().line);
    s.target = target(false, "in");
    if (!take_name_if("in")) fail_found("in");
    s.expression = tuple({.conditional = false, .ends_before = "recursive"});
    if (take_name_if("if")) s.test = expression();
    if (now().is_name("recursive")) fail("found a recursive loop; use a macro that calls itself", Error::unsupported);
    ++loops_;
    s.body = block({"else", "endfor"});
    --loops_;
    if (take().spelling == "else") s.otherwise = block("endfor");
    return s;
  }

  Statement set_tag() {
    Statement s = statement(Statement::set, take().line);
    s.target = target(true);
    if (take_if("=")) {
      s.expression = tuple();
      return s;
    }
    s.kind = Statement::set_block;
    if (now().is("|")) s.expression = filters(nullptr);
    s.body = block("endset");
    return s;
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> result;
    expect("(");
    while (!now().is(")")) {
      Parameter p;
      p.name = expect_name();
      if (take_if("="))
        p.value = expression();
      else if (!result.empty() && result.back().value)
        fail("found a parameter without a default behind one with");
      result.push_back(std::move(p));
      if (!now().is(")")) expect(",");
    }
    take();
    return result;
  }

  // The body of a macro or of a caller, with what it mentions; a loop around it is none of its own.
  void define(MacroDefinition& definition, std::string_view end) {
    const Mentions outer = std::exchange(mentions_, {});
    const int loops = std::exchange(loops_, 0);
    definition.body = block(end);
    definition.takes_list = mentions_.varargs;
    definition.takes_dict = mentions_.kwargs;
    definition.takes_caller = mentions_.caller;
    loops_ = loops;
    mentions_ = outer;
  }

  Statement macro_tag() {
    Statement s = statement(Statement::macro, take().line);
    s.definition.name = expect_name();
    s.definition.parameters = parameters();
    define(s.definition, "endmacro");
    return s;
  }

  Statement call_tag() {
    Statement s = statement(Statement::call, take().line);
    s.definition.name = "caller";
    if (now().is("(")) s.definition.parameters = parameters();
    s.expression = expression();
    if (s.expression->kind != Expression::call) fail("found {% call %} of something that is not a call");
    const Mentions outer = mentions_;
    define(s.definition, "endcall");
    mentions_ = outer;
    return s;
  }

  Statement filter_tag() {
    Statement s = statement(Statement::filter, take().line);
    s.expression = filters(nullptr, true);
    s.body = block("endfilter");
    return s;
  }

  Statement with_tag() {
    Statement s = statement(Statement::with, take().line);
    while (now().kind != Token::block_end) {
      if (!s.assignments.empty()) expect(",");
      Statement::Assignment a;
      a.target = target(false);
      expect("=");
      a.value = expression();
      s.assignments.push_back(std::move(a));
    }
    s.body = block("endwith");
    return s;
  }

  Statement generation_tag() {
    Statement s = statement(Statement::scope, take().line);
    const int loops = std::exchange(loops_, 0);
    s.body = block("endgeneration");
    loops_ = loops;
    return s;
  }

  Statement print_tag() {
    Statement s = statement(Statement::print, take().line);
    s.expression = tuple();
    return s;
  }

  int loops_ = 0;
};

}  // namespace

Body parse(std::string_view source) { return Parser(lex(source)).run(); }

}  // namespace fovea::jinja

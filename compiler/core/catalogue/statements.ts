import { area } from "./entry.ts"

/** SP2xxx: statements, names and literals of gateway.conf. */
export const statements = area({
  SP2001: {
    severity: "error",
    title: "Unknown keyword",
    help: "Correct the keyword, or remove the statement.",
    why: "Every block has a fixed list of keywords. A word that is not understood is never skipped: a mistyped `auth` would otherwise open a door.",
  },
  SP2002: {
    severity: "error",
    title: "Keyword in the wrong block",
    help: "Move the statement to a block it belongs in.",
    why: "The keyword exists, but not in this block. When a `}` is missing further up, statements end in a block they were not meant for.",
  },
  SP2003: {
    severity: "error",
    title: "Word not available in this version",
    help: "Remove the statement; a later version brings it.",
    why: "The word belongs to the language, but this version can't serve it. Ignoring it would serve something else than what is written.",
  },
  SP2004: {
    severity: "error",
    title: "Wrong arguments",
    why: "Each keyword has one way, or a few, to be followed by arguments; the finding shows it. `[…]` may be left out, `…` may be repeated.",
  },
  SP2005: { severity: "error", title: "Missing block", help: "Add `{ … }` after the arguments." },
  SP2006: { severity: "error", title: "Block not allowed", help: "Remove the block." },
  SP2007: {
    severity: "error",
    title: "`else` without `when`",
    help: "Only `when (…) { … }` may be followed by `else`.",
  },
  SP2008: {
    severity: "error",
    title: "Statement given twice",
    help: "Keep one of the two.",
    why: "The statement holds one setting of its block. Which of two would count could only be guessed.",
  },
  SP2009: { severity: "error", title: "Missing statement", help: "Add the statement." },
  SP2010: {
    severity: "error",
    title: "Invalid name",
    help: "Use letters, digits, `_` and `-`, starting with a letter or `_`, at most 128 characters.",
    why: "Named values and secrets are used inside expressions, where `-` means minus: their names have letters, digits and `_` only.",
  },
  SP2011: {
    severity: "error",
    title: "Name declared twice",
    help: "Give one of the two another name.",
    why: "Names of one kind are declared once in all files together. Named values and secrets share their names, because both stand in `${…}`.",
  },
  SP2012: {
    severity: "error",
    title: "Unknown name",
    help: "Declare the name, or correct it.",
    why: "A bare word that refers to something must name a declaration. Text that is only data stands in quotes.",
  },
  SP2013: {
    severity: "error",
    title: "Reserved name",
    help: "Choose another name.",
    why: "Variables of expressions (`request`, `jwt`, …), words of the expression language and keywords after `without` can't be given a second meaning.",
  },
  SP2014: {
    severity: "warning",
    title: "Unused declaration",
    help: "Use it, or remove it.",
    why: "What nothing refers to is left out of the plan. Often the name was mistyped where it should be used.",
  },
  SP2015: { severity: "error", title: "Declarations in a circle", help: "Break the circle." },
  SP2016: { severity: "error", title: "Repeated in a list", help: "Remove one of the two." },
  SP2017: {
    severity: "error",
    title: "Statements exclude each other",
    help: "Keep one of the two.",
    why: "Both statements decide the same thing in different ways.",
  },
  SP2020: {
    severity: "error",
    title: "Invalid duration",
    why: "A duration is a whole number with a unit: `ms`, `s`, `m`, `h` or `d`, as in `500ms`, `30s`, `5m`. A number without a unit is never taken for seconds.",
  },
  SP2021: {
    severity: "error",
    title: "Invalid size",
    why: "A size is a whole number with a unit: `B`, `KB`, `MB` or `GB`, as in `16KB`, `10MB`. One KB is 1024 bytes; `KiB`, `MiB`, `GiB` mean the same.",
  },
  SP2022: { severity: "error", title: "Invalid number" },
  SP2023: {
    severity: "error",
    title: "Invalid date",
    why: "A date is a day of the calendar as `YYYY-MM-DD`, meant in UTC: `2026-06-30` begins at midnight UTC.",
  },
  SP2024: {
    severity: "error",
    title: "Invalid address",
    why: "A listener needs an address and a port: `127.0.0.1:8000`, `[::1]:8000`, `0.0.0.0:8000` for every IPv4 interface, `[::]:8000` for every interface.",
  },
  SP2025: {
    severity: "error",
    title: "Invalid network",
    why: "A network is an IP address with the length of its prefix, `10.0.0.0/8` or `fd00::/8`, with no bits set behind the prefix; a single address stands for itself.",
  },
  SP2026: {
    severity: "error",
    title: "Invalid URL",
    why: "Backends and issuers are reached by `http:` or `https:` URLs without user, password, query or fragment; a base path is allowed.",
  },
  SP2027: {
    severity: "error",
    title: "Invalid header name",
    help: 'Use letters, digits and `-`, e.g. `"X-Request-Source"`.',
    why: "A field name is a token of RFC 9110 §5.1. Anything else would be refused by servers, or read as something else.",
  },
  SP2028: {
    severity: "error",
    title: "Control character in a header",
    help: "Remove the line break or control character.",
    why: "A line break in a header's value starts another header: response splitting. Text known only per request is checked when it is known (400).",
  },
  SP2029: { severity: "error", title: "Invalid status" },
  SP2030: {
    severity: "error",
    title: "Word not allowed here",
    why: "The place takes one of a few fixed words; the finding lists them.",
  },
  SP2031: {
    severity: "error",
    title: "Text must be known before requests",
    help: "Use constant text or named values only.",
    why: "The text is used when the plan is compiled or loaded, before there is a request an expression could read.",
  },
  SP2032: {
    severity: "error",
    title: "Invalid reference to the outside",
    why: 'Values come from outside by `env(NAME)`, `env(NAME, "default")` or `file("path")` after `value X =` and `secret X =`, and by `file("path")` for key sets and certificates.',
  },
  SP2033: {
    severity: "error",
    title: "Secret written as text",
    help: 'Use `env(NAME)` or `file("path")`.',
    why: "The file is in git, and so would be the secret. A default of `env()` is such a text too. Secrets are resolved by the runtime when it loads the plan.",
  },
  SP2034: {
    severity: "error",
    title: "Header is not yours to set",
    why: "Fields of the connection and of the framing (RFC 9110 §7.6.1, RFC 9112 §6) are written by the gateway; a second opinion about them is how requests are smuggled. The Host header has `forward-host`.",
  },
  SP2035: { severity: "error", title: "Invalid name of a query parameter" },
  SP2036: {
    severity: "error",
    title: "Misplaced `=`",
    help: "`=` stands only after the name in `value NAME = …` and `secret NAME = …`.",
  },
  SP2037: {
    severity: "error",
    title: "Invalid file path",
    help: "Use a path below the project's folder, with `/`.",
  },
  SP2038: { severity: "error", title: "Empty text", help: "Write something between the quotes." },
})

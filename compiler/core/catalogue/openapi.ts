import { area } from "./entry.ts"

/** SP8xxx: OpenAPI documents and what gateway.conf says of them. */
export const openapi = area({
  SP8001: {
    severity: "error",
    title: "Not an OpenAPI document",
    help: 'Name a document of OpenAPI 2.0 (`swagger: "2.0"`), 3.0, 3.1 or 3.2.',
    why: "A document says its version first. Those this version does not know may give old words a new meaning, so they are not guessed at.",
  },
  SP8002: {
    severity: "error",
    title: "Document can't be parsed",
    help: "Close every bracket and quote; in YAML indent by blanks, and quote texts that hold `: ` or ` #`.",
    why: "Documents are JSON (RFC 8259) or YAML 1.2. A key that is there twice is refused: tools disagree which of the two counts.",
  },
  SP8003: {
    severity: "error",
    title: "Wrong part of a document",
    help: "Write it as the OpenAPI specification has it.",
    why: "What is not understood is never skipped: a mistyped limit would let everything through.",
  },
  SP8004: {
    severity: "error",
    title: "Reference leads nowhere",
    help: "Correct the `$ref`; `#/…` stays in the file it is written in, `other.yaml#/…` starts from that file's folder.",
    why: "A reference is a path to a file of the project and a JSON pointer (RFC 6901) into it.",
  },
  SP8005: {
    severity: "error",
    title: "Reference to the outside",
    help: "Put the file into the project, and refer to it by a relative path.",
    why: "A plan must be the same for everyone who has the folder; nothing is fetched while it is made.",
  },
  SP8006: {
    severity: "error",
    title: "Document too large",
    help: "Split the API into several documents.",
    why: "A document may have 4 million values, 100 levels, a million references and 100,000 operations; what YAML repeats by references counts each time.",
  },
  SP8008: {
    severity: "error",
    title: "Described twice",
    help: "Remove one of the two.",
    why: "Operations are told apart by `operationId`, parameters by place and name.",
  },
  SP8009: {
    severity: "error",
    title: "Name that is nowhere declared",
    help: "Declare it, or correct the name.",
    why: "A path parameter stands in the template and is described; a requirement names a security scheme of the document, and so does `security` in gateway.conf.",
  },
  SP8010: {
    severity: "error",
    title: "Demanded security has no `auth`",
    help: 'Say what the scheme is here: `openapi "FILE" { security SCHEME auth jwt ISSUER }`; or write `auth` into the operation.',
    why: "The document says that callers must prove who they are. Such an operation is never left open because nobody said how: only `auth` in the operation itself decides otherwise.",
  },
  SP8011: {
    severity: "error",
    title: "Operation is not in the document",
    help: "Correct the method or the path; or say `extra` in the operation, if it is to be there besides.",
    why: "With `openapi` the document has the operations and the text adds to them. One that fits none is mostly a typing mistake, and what was meant would go without it.",
  },
  SP8012: {
    severity: "error",
    title: "Nothing described to go by",
    help: 'Add `openapi "FILE"` to the API, describe it in the document, or remove the statement.',
    why: "`validate` and `mock` go by the OpenAPI document of the API.",
  },
  SP8013: {
    severity: "error",
    title: "Schema can't judge",
    help: "Write the schema otherwise, or do not validate by it.",
    why: "What judges requests takes time linear in their size: no schema refers to itself for the same value. A place that says otherwise than its schema must have a schema that can be read so.",
  },
  SP8014: {
    severity: "warning",
    title: "Means nothing here",
    help: "Remove it, or correct its name; names of your own start with `x-`.",
    why: "The specification has no such word in this place, so it changes nothing.",
  },
  SP8015: {
    severity: "warning",
    title: "Not served",
    help: "Nothing has to be done if that is known.",
    why: "Some parts of a document describe what a gateway in front of the API takes no part in. They are named, so that nobody believes otherwise.",
  },
  SP8016: {
    severity: "warning",
    title: "Scheme is never demanded",
    help: "Remove the `security` statement, or correct its name.",
    why: "No operation of the document demands the scheme, so the `auth` behind it never takes effect.",
  },
  SP8017: {
    severity: "error",
    title: "Document can't be served",
    help: 'Write a path like `docs "/openapi.json"`.',
    why: "A document is answered in JSON or YAML, by the ending of its path, and stands in the plan as text.",
  },
  SP8018: {
    severity: "warning",
    title: "Judged by its form only",
    help: "Nothing has to be done if that is known: XML that is not well-formed is found, and nothing else. `content ignore` does not look at bodies at all.",
    why: "Schemas of OpenAPI judge JSON, forms and parameters. What they would say of elements and attributes of XML is not looked at, so nobody should rely on it.",
  },
  SP8019: {
    severity: "warning",
    title: "Check left to the backend",
    help: "Write the pattern in the syntax of ECMA-262, with 8,192 characters at most; say in a list what it allows; or let the backend check it.",
    why: "A pattern of another language, one of more than 8,192 characters or with very large counts can't be run, and a list of nothing allows nothing. All else the schema says is still checked; where the pattern decides which of several schemas counts (`not`, `oneOf`, `if`), a value passes that may be right.",
  },
  SP8020: {
    severity: "warning",
    title: "Operations that share a route",
    help: "Nothing has to be done if that is known. Describe what they do as one operation to have it checked more closely.",
    why: "Routes are found by method and path; names of path parameters, what follows `?` and what follows `#` tell none apart. Of what only some of the operations ask, the backend checks.",
  },
  SP8021: {
    severity: "warning",
    title: "Part of a document left out",
    help: "Correct it in the document, or tell its author; all else is served.",
    why: "One mistake does not refuse a document: an operation that no route can be (TRACE, two parameters without text between them) is not served, the others are. A mistake is an error where leaving it out would let requests pass that the document refuses; with `lenient` behind `openapi` it is this warning as well. Nobody is let in because of it: what demands a scheme that is not there is demanded still.",
  },
})

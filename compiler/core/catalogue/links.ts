import { area } from "./entry.ts"

/** SP5xxx: expressions, and gateway.conf against the models. */
export const links = area({
  SP5001: {
    severity: "error",
    title: "Expression does not type-check",
    help: "Use values of the types the operator or function takes; `int(…)`, `double(…)` and `string(…)` convert.",
    why: "Expressions are CEL, checked against what is known at their place, so that a request never meets an operator without a meaning.",
  },
  SP5002: {
    severity: "error",
    title: "Expression is not understood",
    help: 'Write CEL: texts in quotes, `==`, `&&`, `||` and `!`, calls such as `request.header("X-Id")`, every bracket closed.',
    why: "The text is no CEL, or longer or deeper than expressions may be.",
  },
  SP5003: {
    severity: "error",
    title: "Unknown name in an expression",
    help: "Write a name this place has; `sallyport explain SP5004` lists them by place.",
    why: "What an expression may name depends on its place; `explain SP5004` says what is known where.",
  },
  SP5004: {
    severity: "error",
    title: "Not known at this place",
    help: "Move the statement, or leave the name out.",
    why: "`jwt` and `subscription` are known only where `auth` provides them, `response` only in `outbound` and `on-error`, `error` only in `on-error`, `path.NAME` only where the route's path has `{NAME}`.",
  },
  SP5005: {
    severity: "error",
    title: "Undeclared claim",
    help: "Declare it in `claims { … }` of the issuer, or correct the name.",
    why: "An issuer with `claims` says what its tokens hold; a claim that is not among them would be missing in every token.",
  },
  SP5006: {
    severity: "error",
    title: "Value has no text",
    help: "Choose a part of it, or write JSON with `body json`.",
    why: "`${…}` in text takes strings, numbers, booleans, times and durations. Lists and maps have no one text.",
  },
  SP5007: {
    severity: "error",
    title: "Invalid JSON",
    help: "Correct the JSON; keys and texts have double quotes.",
    why: "The constant part of a JSON body is parsed at compile time with a stand-in for every `${…}`: inside JSON quotes it becomes escaped text, outside a JSON value.",
  },
  SP5008: {
    severity: "error",
    title: "Secret in an expression",
    help: "Use the secret alone, as `${NAME}` or `NAME`.",
    why: "What an expression makes of a secret could be printed, compared or put into a log without being recognised as one.",
  },
  SP5010: {
    severity: "error",
    title: "Nobody to ask",
    help: 'Declare a store: `authz { store NAME { model "models/…" } }`, or a decision point: `pdp NAME { url "https://…" }`. Of several, say which: `in STORE`, `by PDP`.',
    why: "A question goes to one store of the engine, or to one decision point; with several, the statement says which. Without a word it goes to the only store, and where there is none to the only decision point.",
  },
  SP5011: {
    severity: "error",
    title: "Type not in the model",
    help: "Correct the type, or add it to the model.",
    why: "A question about a type the model does not have is always an error of the engine.",
  },
  SP5012: {
    severity: "error",
    title: "Relation not in the model",
    help: "Correct the relation, or add it to the model.",
    why: "A question about a relation the type does not have is always an error of the engine. Of a decision point, what its `actions` do not name is taken for a mistake.",
  },
  SP5013: {
    severity: "error",
    title: "Subject can't have the relation",
    help: "Ask for another relation, or allow the type in the model.",
    why: "No tuple of this model can give the relation to a subject of this type: the answer would always be no.",
  },
  SP5014: {
    severity: "error",
    title: "Not an object or user",
    help: 'Write `"type:${…}"` for an object, and `"type:${…}"`, `"type:${…}#relation"` or `"type:*"` for a user.',
    why: "The type must be written out, so that it can be checked against the model and a request can't choose it.",
  },
  SP5015: {
    severity: "error",
    title: "Subject is not certain",
    help: "Read it from `jwt` or `subscription`, and let every way of `auth` provide it.",
    why: "`require` decides for somebody: what varies in the subject must be read from `jwt` or `subscription`, and each way of `auth` must provide it. What a caller writes into a path or a header proves nothing.",
  },
  SP5016: {
    severity: "warning",
    title: "May be missing",
    help: "Ask first: `when (has(jwt.sub)) { … }`, or `${has(jwt.sub) ? jwt.sub : …}`.",
    why: "Where several ways of `auth` are allowed, callers have only what their way provides. Reading what is not there is an error of the request (500).",
  },
  SP5017: {
    severity: "error",
    title: "Wrong template",
    help: "Correct the template; `{{ value }}` writes, `{% tag %}` steers.",
    why: "Templates are Liquid in the dialect of Azure API Management. They are compiled with the plan: a tag or filter that does not exist, or one that is not closed, would fail in every request.",
  },
  SP5018: {
    severity: "error",
    title: "Variable is not set",
    help: "Set it before, or correct the name.",
    why: "`var.NAME` is what a statement before it leaves: `set`, `send`, `cache get` and the like. Statements run in the order of the file, inbound before outbound before on-error.",
  },
  SP5020: {
    severity: "error",
    title: "Invalid XML",
    help: "Correct the XML: one root element, every element closed, values of attributes in quotes.",
    why: "The constant part of an XML body is parsed at compile time with a stand-in for every `${…}`, to find the place of each. A body that is not well-formed would be refused by its reader.",
  },
  SP5021: {
    severity: "error",
    title: "Expression in XML that cannot be escaped",
    help: "Move it into the text of an element or into the quotes of an attribute.",
    why: "`body set xml` escapes a value for the text of an element or for the value of an attribute. In names, comments, CDATA sections, processing instructions and outside of the root element no escaping keeps a value from becoming markup.",
  },
  SP5022: {
    severity: "warning",
    title: "Caller's value is not escaped",
    help: "Write the body with `xml` or `json`, or escape the value: `${xmlEscape(path.id)}`, `${urlEncode(query.name)}`.",
    why: "`text`, `as-is` and a media type send a value as it is. In markup, forms and JSON a caller can end the place it stands in, and so add elements, fields or parameters to what the reader gets.",
  },
  SP5023: {
    severity: "warning",
    title: "Text looks like an expression",
    help: 'Write it as `${…}`, or as `${"…"}` where the text is meant literally.',
    why: "Values are inserted by `${…}` only. What other languages write for it (`$jwt.sub`, `{{jwt.sub}}`, `#{jwt.sub}`, `$(jwt.sub)`, `%jwt.sub%`) is sent as it is. Only what would be an expression in this place is reported, so that a price in dollars and a Liquid template for somebody else are not.",
  },
})

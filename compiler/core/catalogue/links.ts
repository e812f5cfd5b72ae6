import { area } from "./entry.ts"

/** SP5xxx: expressions, and gateway.conf against the models. */
export const links = area({
  SP5001: {
    severity: "error",
    title: "Expression does not type-check",
    help: "Use values of the types the operator or function takes; `int(…)`, `double(…)` and `string(…)` convert.",
    why: "Expressions are CEL. The compiler checks them against the values available at their place, so that no request fails because of a wrong type.",
  },
  SP5002: {
    severity: "error",
    title: "Invalid expression",
    help: 'Write CEL: strings in quotes, `==`, `&&`, `||` and `!`, calls such as `request.header("X-Id")`, and close every bracket.',
    why: "The text is not valid CEL, or it is longer or more deeply nested than an expression may be.",
  },
  SP5003: {
    severity: "error",
    title: "Unknown name in an expression",
    help: "Use a name that is available here; `sallyport docs expressions` lists them by place.",
    why: "Which names an expression may use depends on its place; `sallyport docs expressions` lists them.",
  },
  SP5004: {
    severity: "error",
    title: "Name not available here",
    help: "Move the statement to a place where the name is available, or remove the name.",
    why: "`jwt` and `subscription` are available only where `auth` provides them, `response` only in `outbound` and `on-error`, `error` only in `on-error`, and `path.NAME` only where the path of the route contains `{NAME}`.",
  },
  SP5005: {
    severity: "error",
    title: "Undeclared claim",
    help: "Declare it in `claims { … }` of the issuer, or correct the name.",
    why: "An issuer with `claims { … }` lists all claims of its tokens. A claim outside this list would be missing in every token.",
  },
  SP5006: {
    severity: "error",
    title: "Value cannot be converted to a string",
    help: "Select a part of it, or write it as JSON with `body json`.",
    why: "`${…}` in a string takes strings, numbers, booleans, times and durations. Lists and maps have no single text form.",
  },
  SP5007: {
    severity: "error",
    title: "Invalid JSON",
    help: "Correct the JSON; keys and strings need double quotes.",
    why: "The compiler parses the constant part of a JSON body with a placeholder for every `${…}`. Inside JSON quotes a value becomes an escaped string, outside of them a JSON value.",
  },
  SP5008: {
    severity: "error",
    title: "Secret in an expression",
    help: 'Use the secret alone, as `${NAME}` or `NAME`, or as the key of `hmac`: `hmac("sha256", NAME, request.text)`.',
    why: "The result of an expression on a secret could be printed, compared or logged, and would no longer be recognised as a secret. A signature by `hmac` does not reveal its key.",
  },
  SP5010: {
    severity: "error",
    title: "Store or decision point not determined",
    help: 'Declare a store, `authz { store NAME { model "models/…" } }`, or a decision point, `pdp NAME { url "https://…" }`. If there are several, name one: `in STORE` or `by PDP`.',
    why: "Each question goes to one store of the engine or to one decision point. A statement without `in` or `by` uses the only store or, without a store, the only decision point. With several the statement must name one.",
  },
  SP5011: {
    severity: "error",
    title: "Type not in the model",
    help: "Correct the type, or add it to the model.",
    why: "The engine answers a question about an unknown type with an error, for every request.",
  },
  SP5012: {
    severity: "error",
    title: "Relation not in the model",
    help: "Correct the relation, or add it to the model.",
    why: "The engine answers a question about a relation that the type does not have with an error, for every request. For a decision point, `actions` lists the names that may be used.",
  },
  SP5013: {
    severity: "error",
    title: "Relation impossible for this type of user",
    help: "Ask for another relation, or allow the type in the model.",
    why: "No tuple that this model allows can give the relation to a user of this type, so the answer would always be no.",
  },
  SP5014: {
    severity: "error",
    title: "Not an object or user",
    help: 'Write `"type:${…}"` for an object, and `"type:${…}"`, `"type:${…}#relation"` or `"type:*"` for a user.',
    why: "The type must be constant, so that it can be checked against the model and no request can choose it.",
  },
  SP5015: {
    severity: "error",
    title: "User does not come from authentication",
    help: "Take the user from `jwt` or `subscription`, and make sure every `auth` alternative provides it.",
    why: "`require` decides about a user. The variable part of that user must come from `jwt` or `subscription`, and every `auth` alternative must provide it. A caller can put any value into a path or a header, so these prove nothing.",
  },
  SP5016: {
    severity: "warning",
    title: "Value may be missing",
    help: "Test for it first: `when (has(jwt.sub)) { … }`, or `${has(jwt.sub) ? jwt.sub : …}`.",
    why: "With several `auth` alternatives a request has only the values of the one it used. Reading a missing value fails the request with status 500.",
  },
  SP5017: {
    severity: "error",
    title: "Invalid template",
    help: "Correct the template: `{{ value }}` prints a value, `{% tag %}` is a control tag.",
    why: "Templates are Liquid in the dialect of Azure API Management. They are compiled with the plan, because an unknown or unclosed tag or filter would fail in every request.",
  },
  SP5018: {
    severity: "error",
    title: "Variable is not set",
    help: "Set it in an earlier statement, or correct the name.",
    why: "`var.NAME` holds what an earlier statement (`set`, `send`, `cache get` and others) stored. Statements run in file order: inbound, then outbound, then on-error.",
  },
  SP5020: {
    severity: "error",
    title: "Invalid XML",
    help: "Correct the XML: one root element, every element closed, attribute values in quotes.",
    why: "The compiler parses the constant part of an XML body with a placeholder for every `${…}`, to find the context of each. A receiver would reject a body that is not well-formed.",
  },
  SP5021: {
    severity: "error",
    title: "Expression in XML that cannot be escaped",
    help: "Move it into the text of an element or into a quoted attribute value.",
    why: "`body set xml` escapes values in the text of elements and in attribute values. In names, comments, CDATA sections, processing instructions and outside of the root element no escaping can prevent a value from becoming markup.",
  },
  SP5022: {
    severity: "warning",
    title: "Unescaped value from the request",
    help: "Write the body with `xml` or `json`, or escape the value: `${xmlEscape(path.id)}`, `${urlEncode(query.name)}`.",
    why: "`text`, `as-is` and a media type send values unchanged. In markup, forms and JSON a caller could end the surrounding element or string, and add elements, fields or parameters to the body.",
  },
  SP5023: {
    severity: "warning",
    title: "Text looks like an expression",
    help: 'Write `${…}` to insert the value, or `${"…"}` to send these characters.',
    why: "Only `${…}` inserts a value. Forms of other languages (`$jwt.sub`, `{{jwt.sub}}`, `#{jwt.sub}`, `$(jwt.sub)`, `%jwt.sub%`) are sent unchanged. The compiler reports them only where the name would be a valid expression, so prices in dollars and templates for other systems are not reported.",
  },
})

import { area } from "./entry.ts"

/** SP7xxx: XML policy documents. */
export const policies = area({
  SP7001: {
    severity: "error",
    title: "Malformed policy document",
    help: 'Write `<NAME attribute="value">` … `</NAME>`, or `<NAME attribute="value" />`.',
    why: 'A policy document is XML, except that expressions may contain `"`, `<` and `&` as C# does. All other parts are read strictly, because a misplaced tag could move a check to a place where it does not run.',
  },
  SP7002: {
    severity: "error",
    title: "Not a policy document",
    help: "Write `<policies>` with `<inbound>`, `<backend>`, `<outbound>`, `<on-error>`, or `<fragment>` for a reusable part.",
    why: "A document has one root element: `<policies>` for `policy xml`, `<fragment>` for a part that documents include.",
  },
  SP7003: {
    severity: "error",
    title: "Policy document too large",
    help: "Split it: move parts of it into fragments.",
    why: "A document may have at most 1,048,576 characters, 20,000 elements, 64 levels and 50 attributes per element.",
  },
  SP7004: {
    severity: "error",
    title: "Unclosed C# expression",
    help: "Close the brackets and strings of the expression.",
    why: "An expression is the whole value of an attribute or the whole text of an element. It starts with `@(` or `@{` and ends at the matching bracket; brackets in strings, characters and comments do not count.",
  },
  SP7005: {
    severity: "error",
    title: "Unknown policy",
    help: "Correct the name, or remove the element if the policy is not needed.",
    why: "The compiler never skips an element of a document: an unknown element could be a check that does not run.",
  },
  SP7006: {
    severity: "error",
    title: "Policy in the wrong place",
    help: "Move the element to a section that allows it.",
    why: "Every policy may be used only in some sections and elements: a check of the response cannot run before there is one.",
  },
  SP7007: {
    severity: "error",
    title: "Unknown attribute",
    help: "Correct the name, or remove the attribute.",
    why: "An unknown attribute could have changed what the policy does.",
  },
  SP7008: {
    severity: "error",
    title: "Missing attribute or element",
    help: "Add the attribute or element that the finding names.",
    why: "Without it the policy does nothing, or something other than intended.",
  },
  SP7009: {
    severity: "error",
    title: "Invalid value",
    help: "Write a value of the type and within the range that the finding shows.",
    why: "Values are checked when the document is compiled, not by the first request.",
  },
  SP7010: {
    severity: "error",
    title: "Expression not allowed here",
    help: "Write a constant value.",
    why: "Some values must be known when the plan is made, such as names and counters, and values that a proof depends on.",
  },
  SP7011: {
    severity: "error",
    title: "Policy not supported",
    help: "Remove it, or replace it as the finding describes.",
    why: "Some policies belong to services of one cloud, or to tiers with no counterpart here. They are errors and not ignored, and the finding says what to write instead.",
  },
  SP7012: {
    severity: "error",
    title: "Unknown name in a document",
    help: "Declare the name in gateway.conf.",
    why: "`{{NAME}}` is a `value` or `secret` of gateway.conf, `backend-id` a `backend`, `fragment-id` a `fragment`. `xml { … }` maps names that gateway.conf does not allow.",
  },
  SP7013: {
    severity: "error",
    title: "Fragment includes itself",
    help: "Remove one of the `include-fragment` elements.",
    why: "A fragment that includes itself, directly or through others, has no end.",
  },
  SP7014: {
    severity: "warning",
    title: "Document skips an outer policy that protects the route",
    help: "Add `<base />` to the section, or add the check.",
    why: "A section without `<base />` runs none of the policies of outer documents. A check such as validate-jwt would be lost without notice. Checks written in gateway.conf always run.",
  },
  SP7015: {
    severity: "warning",
    title: "Request is never forwarded",
    help: "Add `<base />` or `<forward-request />` to `<backend>`.",
    why: "`<backend>` sends the request only with `<forward-request />`, its own or the one of `<base />`. Without it the backend gets no request, and the response is empty.",
  },
  SP7016: {
    severity: "error",
    title: "Authentication can be bypassed",
    help: "Add validate-jwt for the token of the caller on every path to the backend, or declare `auth` in gateway.conf.",
    why: "`auth policy` means that documents authenticate callers. Every path through `<inbound>` and `<backend>` to the backend must then pass a policy that proves who calls: validate-jwt, validate-azure-ad-token, validate-client-certificate, or check-header against a secret. Conditions are not evaluated: each branch is a path. A credential that the document itself adds to the request (its own token, a constant, a cached value, the response of another service) is the same for every caller and proves nothing.",
  },
  SP7017: {
    severity: "error",
    title: "Unsupported C# expression",
    help: "Rewrite the expression.",
    why: "Expressions are the C# that policies allow. They are checked when the document is compiled, so that an unknown member is found here and not by a request.",
  },
  SP7018: {
    severity: "warning",
    title: "Unreachable policy",
    help: "Remove the policies after it.",
    why: "`return-response` and `mock-response` end the request: policies after them in the section never run.",
  },
  SP7019: {
    severity: "warning",
    title: "Setting without effect",
    help: "Remove it.",
    why: "The gateway does what this setting asks for elsewhere, or always. The policy works as written otherwise.",
  },
  SP7020: {
    severity: "warning",
    title: "Text looks like a C# expression",
    help: 'Write the whole body as one expression, `@($"before{…}after")`, or as a Liquid template.',
    why: "An expression must be the whole body. Inside other text, `@(…)` is plain text, as in Azure API Management, and the receiver gets it unchanged.",
  },
})

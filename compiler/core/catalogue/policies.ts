import { area } from "./entry.ts"

/** SP7xxx: XML policy documents. */
export const policies = area({
  SP7001: {
    severity: "error",
    title: "Malformed document",
    help: 'Write `<NAME attribute="value">` … `</NAME>`, or `<NAME attribute="value" />`.',
    why: 'A policy document is XML, but for its expressions: they may hold `"`, `<` and `&` as C# has them. Everything else is read strictly, because a tag in the wrong place could put a check where it does not run.',
  },
  SP7002: {
    severity: "error",
    title: "Not a policy document",
    help: "Write `<policies>` with `<inbound>`, `<backend>`, `<outbound>`, `<on-error>`; or `<fragment>` for a part of documents.",
    why: "A document has one root: `<policies>` where it is used by `policy xml`, `<fragment>` where documents include it.",
  },
  SP7003: {
    severity: "error",
    title: "Document too large",
    help: "Split it: parts of a document can be fragments.",
    why: "A document may have 1,048,576 characters, 20,000 elements, 64 levels and 50 attributes per element. Every input has a budget.",
  },
  SP7004: {
    severity: "error",
    title: "Broken expression",
    help: "Close the brackets and texts of the expression.",
    why: "An expression is the whole value of an attribute or the whole text of an element. It runs from `@(` or `@{` to the bracket that closes it; brackets in texts, characters and comments don't count.",
  },
  SP7005: {
    severity: "error",
    title: "Unknown policy",
    help: "Correct the name; or remove the element if the policy isn't needed.",
    why: "Nothing in a document is ever left out: an element that means nothing to the compiler would be a check that does not run.",
  },
  SP7006: {
    severity: "error",
    title: "Element out of place",
    help: "Move the element.",
    why: "Every policy says in which sections and elements it may stand: a check of the response has nothing to look at before there is one.",
  },
  SP7007: {
    severity: "error",
    title: "Unknown attribute",
    help: "Correct the name, or remove the attribute.",
    why: "An attribute that is not understood could have changed what the policy does.",
  },
  SP7008: {
    severity: "error",
    title: "Something is missing",
    help: "Add it.",
    why: "Without it the policy has nothing to do, or does something else than was meant.",
  },
  SP7009: {
    severity: "error",
    title: "Wrong value",
    help: "Write a value of the kind and within the bounds the finding names.",
    why: "Values are checked when the document is compiled, so that nothing is found out by the first request.",
  },
  SP7010: {
    severity: "error",
    title: "Expression not possible here",
    help: "Write the value itself.",
    why: "Some values must be known when the plan is made: names, counters, what a proof is based on.",
  },
  SP7011: {
    severity: "error",
    title: "Policy not supported",
    help: "Remove it, or replace it as described.",
    why: "Some policies belong to services of one cloud, or to tiers that have no counterpart here. They are refused rather than left out, and the finding says what to write instead.",
  },
  SP7012: {
    severity: "error",
    title: "Unknown name in a document",
    help: "Declare it in gateway.conf.",
    why: "`{{NAME}}` is a `value` or `secret` of gateway.conf; `backend-id` is a `backend`; `fragment-id` is a `fragment`. Names that can't be written in gateway.conf get one in `xml { … }`.",
  },
  SP7013: {
    severity: "error",
    title: "Fragment includes itself",
    help: "Remove one of the `include-fragment` elements.",
    why: "A fragment that includes itself, directly or through others, has no end.",
  },
  SP7014: {
    severity: "warning",
    title: "Outer guard is cut",
    help: "Add `<base />` to the section, or the guard.",
    why: "A section without `<base />` runs nothing of what outer documents have in it. Cut like this, a check such as validate-jwt is gone without a trace. Guards that gateway.conf has itself are never cut.",
  },
  SP7015: {
    severity: "warning",
    title: "Nothing is forwarded",
    help: "Add `<base />` or `<forward-request />` to `<backend>`.",
    why: "`<backend>` sends the request only by `<forward-request />`, its own or that of `<base />`. Without one the backend is never asked and the answer is made of nothing.",
  },
  SP7016: {
    severity: "error",
    title: "Way around authentication",
    help: "Let every way to the backend pass a validate-jwt of what the caller sent, or declare `auth` in gateway.conf.",
    why: "`auth policy` says that documents authenticate. Then every way through `<inbound>` and `<backend>` to the backend must pass a policy that proves who calls: validate-jwt, validate-azure-ad-token, validate-client-certificate, or check-header against a secret. Conditions are not looked into: each branch is a way. A credential that the document itself put into the request (a token of its own, a constant, a value of the cache, the answer of another service) is the same for every caller: judging it proves nothing.",
  },
  SP7017: {
    severity: "error",
    title: "Not possible in an expression",
    help: "Rewrite the expression.",
    why: "Expressions are the C# that policies know, checked when the document is compiled: an unknown member is found here, not by a request.",
  },
  SP7018: {
    severity: "warning",
    title: "Nothing runs after this",
    help: "Remove what follows.",
    why: "`return-response` and `mock-response` answer the request: what stands behind them in the section never runs.",
  },
  SP7019: {
    severity: "warning",
    title: "Setting without effect",
    help: "Remove it.",
    why: "What the setting asks for is done in another place here, or is always so. The policy does what it says otherwise.",
  },
  SP7020: {
    severity: "warning",
    title: "Text that looks like an expression",
    help: 'Write the whole body as one expression: `@($"before{…}after")`; or as a Liquid template.',
    why: "Only an expression that is all of a body is one. Inside of its text `@(…)` is text, as in Azure API Management, and whoever gets the body reads it as it stands.",
  },
})

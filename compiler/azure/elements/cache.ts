import type { Step } from "../../../runtime/plan/steps.ts"
import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { textOf } from "../values.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  everywhere,
  flags,
  inboundOnly,
  optional,
  required,
  requiredDynamic,
  seconds,
} from "./row.ts"

type CacheGet = Extract<Step, { kind: "cache-get" }>

const caching = { values: ["internal", "external", "prefer-external"] }
const vary: ChildRow = { many: true, text: "literal" }

/** Warns that the place of the cache is a setting of the gateway, and not of a policy. */
function noteExternal(use: Use): void {
  // `prefer-external` allows the internal cache, so it needs no finding.
  if (use.has("caching-type") && use.constant("caching-type") === "external")
    use.context.host.report.add(
      "SP7019",
      use.spanOf("caching-type"),
      "the cache is in each process, or in Redis with `cache` in `shared redis`",
      {},
    )
}

/** A value: an expression keeps its type, a text is a string. */
export function contentOf(use: Use, name: string): CacheGet["default"] {
  const value = use.value(name)
  if (value === undefined) return undefined
  if (value.kind === "text") return textOf(value, use.context.host)
  const expression = use.context.host.compile(value.code)
  return expression === undefined ? undefined : { expression }
}

/** The field `default`. No field when the attribute is absent; undefined when it is wrong. */
function optionalContent(use: Use, name: string): { default: CacheGet["default"] } | Record<never, never> {
  return use.has(name) ? { default: contentOf(use, name) } : {}
}

function get(use: Use): Used[] | undefined {
  noteExternal(use)
  const parts = {
    key: use.text("key"),
    variable: use.constant("variable-name"),
    ...optionalContent(use, "default-value"),
  }
  return complete(parts) ? use.step({ kind: "cache-get", ...parts }) : undefined
}

function set(use: Use): Used[] | undefined {
  noteExternal(use)
  const parts = {
    key: use.text("key"),
    value: contentOf(use, "value"),
    seconds: use.count("duration"),
  }
  return complete(parts) ? use.step({ kind: "cache-set", ...parts }) : undefined
}

function remove(use: Use): Used[] | undefined {
  noteExternal(use)
  const key = use.text("key")
  return key === undefined ? undefined : use.step({ kind: "cache-remove", key })
}

/** `cache-value`: the inner policies run when the cache has no value. */
function value(use: Use): Used[] | undefined {
  noteExternal(use)
  // The policies that compute the value are in the element itself, or in a `<value>` inside it.
  const steps = (use.child("value") ?? use).policies()
  const parts = {
    key: use.text("key"),
    variable: use.constant("variable-name"),
    seconds: use.count("expires-after"),
    ...(use.has("refresh-after") ? { refreshAfterSeconds: use.count("refresh-after") } : {}),
    ...optionalContent(use, "default-value"),
  }
  if (!complete(parts)) return undefined
  return use.step({ kind: "cache-value", ...parts, steps: steps.map(({ id }) => id) }, { steps })
}

/** Names, one per element or several separated by `;`. */
function names(use: Use, child: string): string[] {
  return use.children(child).flatMap((each) => {
    const text = each.ownText()
    return typeof text === "string"
      ? text
          .split(";")
          .map((name) => name.trim())
          .filter((name) => name !== "")
      : []
  })
}

/** `cache-lookup`. Groups of developers do not exist here, so a response must not be shared by them. */
function lookup(use: Use): Used[] | undefined {
  noteExternal(use)
  const byDeveloper = use.fixedFlag("vary-by-developer")
  const byGroups = use.fixedFlag("vary-by-developer-groups")
  const parts = {
    authorized: use.fixedFlag("allow-private-response-caching"),
    mustRevalidate: use.fixedFlag("must-revalidate"),
    downstream: use.choice("downstream-caching-type", ["none", "private", "public"]),
  }
  if (!complete(parts) || byDeveloper === undefined || byGroups === undefined) return undefined
  if (byGroups)
    return use.report(
      "SP7011",
      use.spanOf("vary-by-developer-groups"),
      "developer groups are not supported",
      'Write `vary-by-developer-groups="false"`, or vary by a header.',
    )
  const { keyed } = use.context.place
  // A developer is identified by the subscription. Callers without one share an entry.
  const key = { text: [{ expression: { lang: "cel" as const, text: "subscription.name", type: "string" } }] }
  const query =
    use.children("vary-by-query-parameter").length === 0 ? null : names(use, "vary-by-query-parameter")
  return use.step({
    kind: "cache-lookup",
    varyHeaders: names(use, "vary-by-header").map((name) => name.toLowerCase()),
    varyQuery: query,
    ...(byDeveloper && keyed ? { key } : {}),
    ...parts,
  })
}

function store(use: Use): Used[] | undefined {
  const parts = {
    seconds: use.count("duration"),
    ...(use.has("cache-response") ? { storeIf: use.flag("cache-response") } : {}),
  }
  return complete(parts) ? use.step({ kind: "cache-store", ...parts }) : undefined
}

export const cache: ElementTable = {
  "cache-lookup": {
    about: "Answers from the cache if it has a response for this request.",
    sections: inboundOnly,
    attributes: {
      "vary-by-developer": { ...requiredDynamic, flag: true },
      "vary-by-developer-groups": { ...requiredDynamic, flag: true },
      "caching-type": caching,
      "downstream-caching-type": { values: ["none", "private", "public"], dynamic: true, byDefault: "none" },
      "must-revalidate": flags.on,
      "allow-private-response-caching": flags.off,
    },
    children: { "vary-by-header": vary, "vary-by-query-parameter": vary },
    lower: lookup,
  },
  "cache-store": {
    about: "Stores the response in the cache, for requests that a `cache-lookup` looked up.",
    sections: ["outbound"],
    attributes: {
      duration: { ...requiredDynamic, whole: seconds },
      "cache-response": { flag: true, dynamic: true },
      "caching-type": caching,
    },
    lower: store,
  },
  "cache-lookup-value": {
    about: "Reads a value of the cache into a variable.",
    sections: everywhere,
    attributes: {
      key: requiredDynamic,
      "variable-name": required,
      "default-value": dynamic,
      "caching-type": caching,
    },
    lower: get,
  },
  "cache-store-value": {
    about: "Stores a value in the cache.",
    sections: everywhere,
    attributes: {
      key: requiredDynamic,
      value: requiredDynamic,
      duration: { ...requiredDynamic, whole: seconds },
      "caching-type": caching,
    },
    lower: set,
  },
  "cache-remove-value": {
    about: "Removes a value from the cache.",
    sections: everywhere,
    attributes: { key: requiredDynamic, "caching-type": caching },
    lower: remove,
  },
  "cache-value": {
    about:
      "Reads a value of the cache into a variable; if there is none, its policies make it, and it is stored.",
    sections: everywhere,
    attributes: {
      key: requiredDynamic,
      "variable-name": required,
      "expires-after": { ...requiredDynamic, whole: seconds },
      "refresh-after": { ...dynamic, whole: seconds },
      "default-value": dynamic,
      "caching-type": { ...optional, ...caching },
    },
    policies: true,
    lower: value,
  },
}

/** `set-variable` accepts the same values as the cache. */
function setVariable(use: Use): Used[] | undefined {
  const parts = { name: use.constant("name"), value: contentOf(use, "value") }
  return complete(parts) ? use.step({ kind: "set-variable", ...parts }) : undefined
}

export const variables: ElementTable = {
  "set-variable": {
    about: "Sets a variable, for later policies.",
    sections: everywhere,
    attributes: { name: required, value: requiredDynamic },
    lower: setVariable,
  },
}

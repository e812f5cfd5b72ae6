import type { CsharpProgram, CsNode } from "../../runtime/plan/csharp.ts"
import {
  bodyRead,
  everyPlace,
  headerOf,
  type Place,
  queryOf,
  wholeResponse,
} from "../../runtime/plan/places.ts"

/** What a C# program reads and changes. A variable can contain an object that the program modifies, and `Trace` writes to the log. */
export interface CsharpReads {
  readonly reads: readonly Place[]
  readonly writes: readonly Place[]
  readonly leaves: readonly Place[]
}

type Call = Extract<CsNode, { k: "call" }>

/** Members that modify the object they are called on, for all mutable types. */
const changes =
  /^(?!string\.|DateTime|TimeSpan|Math\.)[^(]*(?:=$|\.(?:Add|AddFirst|AddRange|AddAfterSelf|AddBeforeSelf|TryAdd|Append\w*|Clear|Dequeue|Enqueue|Insert\w*|Merge|Pop|Push|Remove\w*|Replace\w*|Reverse|Set\w*|Sort|UnionWith|ExceptWith|IntersectWith)[<(])/

const [request, query, responseHeader] = ["request.header:*", "request.query:*", "response.header:*"] as const

/** The places read by each member of the context. A member not listed here has the same value for all steps of a request. */
const members: Readonly<Record<string, readonly Place[]>> = {
  "IProxyContext.LastError": ["error"],
  "IProxyContext.Elapsed": ["clock"],
  "IProxyContext.Product": ["subscription"],
  "IProxyContext.Subscription": ["subscription"],
  "IProxyContext.User": ["subscription"],
  "IProxyContext.Response": ["response.status"],
  "IRequest.Method": ["request.method"],
  "IRequest.Url": ["request.path", "backend"],
  "IRequest.MatchedParameters": [query],
  "IRequest.Body": bodyRead("request"),
  "IResponse.Body": bodyRead("response"),
  "IResponse.StatusCode": ["response.status"],
  "IResponse.StatusReason": ["response.status", "response.reason"],
  "DateTime.Now": ["clock"],
  "DateTime.UtcNow": ["clock"],
  "DateTime.Today": ["clock"],
  "DateTimeOffset.Now": ["clock"],
  "DateTimeOffset.UtcNow": ["clock"],
}

/** Dictionaries of the context: an access by a constant name reads one place, any other access reads all of them. */
const dictionaries: Readonly<Record<string, (name: string) => Place>> = {
  "IRequest.Headers": (name) => headerOf("request", name),
  "IResponse.Headers": (name) => headerOf("response", name),
  "IProxyContext.Variables": (name) => `variable:${name}`,
}

const whole: Readonly<Record<string, Place>> = {
  "IRequest.Headers": request,
  "IResponse.Headers": responseHeader,
  "IProxyContext.Variables": "variable:*",
}

/** Determines what a compiled C# expression reads, from the members it uses. */
export function csharpReads({ body, needs }: CsharpProgram): CsharpReads {
  const reads = new Set<Place>()
  const leaves = new Set<Place>()
  let isChanging = false
  const walk = (node: unknown, isAsked = false): void => {
    if (Array.isArray(node)) for (const each of node) walk(each)
    else if (typeof node === "object" && node !== null) {
      const { k } = node as CsNode
      // Code that uses the context as a value can read anything.
      if (k === "context" && !isAsked) for (const place of everyPlace) reads.add(place)
      if (k === "late") isChanging = true
      if (k === "call") {
        const call = node as Call
        const member = call.member.replace(/[<(].*$/, "")
        if (changes.test(call.member)) isChanging = true
        if (member === "IProxyContext.Trace") leaves.add("log")
        for (const place of placesOf(call, member)) reads.add(place)
        if (call.on !== undefined) walk(call.on, true)
        walk(call.args)
        return
      }
      for (const each of Object.values(node)) walk(each)
    }
  }
  walk(body)
  if ((needs & 1) !== 0) for (const place of bodyRead("request")) reads.add(place)
  if ((needs & 2) !== 0) for (const place of [...bodyRead("response"), ...wholeResponse]) reads.add(place)
  const writes = isChanging ? [...reads].filter((place) => place.startsWith("variable:")) : []
  return { reads: [...reads], writes, leaves: [...leaves] }
}

/**
 * The places of a request or response that a member reads. A dictionary with a constant name is one place, otherwise it is read as a whole.
 */
function placesOf({ on, args }: Call, member: string): readonly Place[] {
  const holder = on?.k === "call" ? on.member.replace(/[<(].*$/, "") : ""
  const [first] = args
  const name = first?.k === "const" && typeof first.value === "string" ? first.value : undefined
  const one = dictionaries[holder]
  if (one !== undefined) return name === undefined ? [whole[holder] as Place] : [one(name)]
  if (holder === "IUrl.Query" && name !== undefined) return [queryOf(name)]
  if (member === "IUrl.Query" || member === "IUrl.QueryString") return [query, "request.query-order:*"]
  return members[member] ?? []
}

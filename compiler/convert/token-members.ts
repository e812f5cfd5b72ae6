import type { CsNode } from "../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, choice, constant, inside, literal, negated, optional } from "./cel.ts"
import { none, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>

const claimOf: Readonly<Record<string, string>> = {
  "Jwt.Subject": "sub",
  "Jwt.Issuer": "iss",
  "Jwt.Id": "jti",
}

/**
 * A token in a variable, which a check left there, and its claims; undefined for other members. A token that nobody checked has no counterpart: what native
 * expressions read of tokens is always checked.
 * @throws NoCounterpart
 */
export function tokenMember(node: Call, translation: Translation): Cel | undefined {
  if (node.member === "string.AsJwt()") return none("a token that nobody checked")
  const claim = Object.hasOwn(claimOf, node.member) ? claimOf[node.member] : undefined
  if (claim !== undefined) return single(tokenIn(node.on, "jwt", translation), claim, translation)
  if (node.member === "Jwt.Claims") {
    const token = tokenIn(node.on, "jwt", translation)
    return { ...token, kind: "claims" }
  }
  if (node.on?.k !== "call" || node.on.member !== "Jwt.Claims") return undefined
  const token = tokenIn(node.on, "claims", translation)
  const [key, otherwise] = node.args
  if (key?.k !== "const" || typeof key.value !== "string") return none("a claim that is not written out")
  translation.notes.add(note)
  const isThere = cel(`${literal(key.value)} in ${spelled(token, key.value)}`, "bool", {
    binds: binds.relation,
    total: false,
  })
  if (/\.ContainsKey\(/.test(node.member)) return isThere
  if (!/^Claims\.GetValueOrDefault\(string(?:,string)?\)$/.test(node.member))
    return none("the list of a claim's values")
  const value = claimText(token, key.value)
  const given = otherwise === undefined ? constant(null) : translation.node(otherwise)
  if (given.kind === "null") return optional(negated(isThere), value)
  return given.kind === "string" ? choice(isThere, value, given) : none("a default that is no text")
}

function tokenIn(node: CsNode | undefined, kind: Cel["kind"], translation: Translation): Cel {
  const token = node === undefined ? undefined : translation.node(node)
  return token?.kind === kind ? token : none("a token that nobody checked")
}

/** The claims, where none has this name in other letters: C# looks for it in any case. */
function spelled({ text }: Cel, name: string): string {
  const other = `k != ${literal(name)} && k.matches(${literal(`(?i)^${name.replace(/[^A-Za-z0-9_]/g, "\\$&")}$|[^\\x00-\\x7f]`)})`
  return `[${text}.claims].filter(c, !c.exists(k, ${other}))[0]`
}

const note =
  "a claim is read as it is spelled and as one text or a list of texts; where a token has it otherwise the call fails here"

/** A text, or several joined by commas. */
function claimText(token: Cel, name: string): Cel {
  const claim = `${spelled(token, name)}[${literal(name)}]`
  return cel(`type(${claim}) == list ? ${claim}.join(",") : "" + ${claim}`, "string", {
    binds: binds.choice,
    total: false,
  })
}

/** Claims that are one text: their names are looked for as they are. */
function single(token: Cel, name: string, { notes }: Translation): Cel {
  notes.add(note)
  const claim = cel(`${inside(token, binds.primary)}.claims.${name}`, "dyn", { total: false })
  const absent = cel(`!has(${claim.text}) || ${claim.text} == null`, "bool", {
    binds: binds.or,
    total: false,
  })
  return optional(absent, cel(`"" + ${claim.text}`, "string", { binds: binds.sum, total: false }))
}

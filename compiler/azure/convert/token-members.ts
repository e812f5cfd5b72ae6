import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, choice, constant, inside, literal, negated, optional } from "./cel.ts"
import { none, pathOf, shortName, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>

const claimOf: Readonly<Record<string, string>> = {
  "Jwt.Subject": "sub",
  "Jwt.Issuer": "iss",
  "Jwt.Id": "jti",
}

/**
 * A token in a variable that a check stored there, and its claims. Returns undefined for other members. An unchecked token has no counterpart,
 * because CEL expressions read only checked tokens.
 * @throws NoCounterpart
 */
export function tokenMember(node: Call, translation: Translation): Cel | undefined {
  if (node.member === "string.AsJwt()") return checkedToken(node.on, translation)
  const claim = Object.hasOwn(claimOf, node.member) ? claimOf[node.member] : undefined
  if (claim !== undefined) return single(tokenIn(node.on, "jwt", translation), claim, translation)
  if (node.member === "Jwt.Claims") {
    const token = tokenIn(node.on, "jwt", translation)
    return { ...token, kind: "claims" }
  }
  if (node.on?.k !== "call" || node.on.member !== "Jwt.Claims") return undefined
  const token = tokenIn(node.on, "claims", translation)
  const [key, otherwise] = node.args
  if (key?.k !== "const" || typeof key.value !== "string") return none("a claim whose name is not constant")
  translation.notes.add(note)
  const name = key.value
  if (/\.ContainsKey\(/.test(node.member)) return isThere(token, name)
  if (node.member.endsWith(".this(K)"))
    return cel(inClaims(token, name, valuesOf(name)), "list", { total: false, sure: true })
  if (!/^Claims\.GetValueOrDefault\(string(?:,string)?\)$/.test(node.member))
    return none(`\`${shortName(node.member)}\``)
  const joined = `${valuesOf(name)}.join(",")`
  const value = cel(inClaims(token, name, joined), "string", { total: false })
  const given = otherwise === undefined ? constant(null) : translation.node(otherwise)
  if (given.kind === "null") return optional(negated(isThere(token, name)), value)
  if (given.kind !== "string") return none("a default that is not a string")
  // A literal means the same inside the brackets.
  return typeof given.constant === "string"
    ? cel(inClaims(token, name, `${literal(name)} in c ? ${joined} : ${given.text}`), "string", {
        total: false,
      })
    : choice(isThere(token, name), value, given)
}

function isThere(token: Cel, name: string): Cel {
  return cel(inClaims(token, name, `${literal(name)} in c`), "bool", { total: false })
}

/** The values of a claim that are strings. */
function valuesOf(name: string): string {
  const values = `c[${literal(name)}]`
  return `(type(${values}) == list ? ${values} : [${values}]).map(v, "" + v)`
}

/** `found` for the claims `c`, unless a claim has the same name in another letter case: C# ignores the case. */
function inClaims({ text }: Cel, name: string, found: string): string {
  const pattern = `(?i)^${name.replace(/[^A-Za-z0-9_]/g, "\\$&")}$|[^\\x00-\\x7f]`
  const other = `c.exists(k, k != ${literal(name)} && k.matches(${literal(pattern)}))`
  return `[${text}.claims].filter(c, !${other}).map(c, ${found})[0]`
}

/** `context.Request.Headers.GetValueOrDefault("Authorization", "").AsJwt()` after a check of that token. */
function checkedToken(node: CsNode | undefined, { around, notes }: Translation): Cel {
  const isHeader =
    node?.k === "call" &&
    /^IHeaders\.GetValueOrDefault\(string(?:,string)?\)$/.test(node.member) &&
    pathOf(node.on) === "Request.Headers"
  const [key] = isHeader ? node.args : []
  const header = key?.k === "const" && typeof key.value === "string" ? key.value : undefined
  const name = header === undefined ? undefined : around.checkedToken(header)
  if (name === undefined) return none("a token that was not validated")
  notes.add(`the token in the header ${header} is the one that was checked, \`var.${name}\``)
  return cel(`var.${name}`, "jwt")
}

function tokenIn(node: CsNode | undefined, kind: Cel["kind"], translation: Translation): Cel {
  const token = node === undefined ? undefined : translation.node(node)
  return token?.kind === kind ? token : none("a token that was not validated")
}

const note =
  "a claim is read with its exact spelling, as one string or a list of strings; a token with another form fails the call"

/** Claims with a single string. Their names are compared exactly. */
function single(token: Cel, name: string, { notes }: Translation): Cel {
  notes.add(note)
  const claim = cel(`${inside(token, binds.primary)}.claims.${name}`, "dyn", { total: false })
  const absent = cel(`!has(${claim.text}) || ${claim.text} == null`, "bool", {
    binds: binds.or,
    total: false,
  })
  return optional(absent, cel(`"" + ${claim.text}`, "string", { binds: binds.sum, total: false }))
}

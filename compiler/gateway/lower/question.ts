import type { RelationQuestion } from "../../../runtime/plan/step-values.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { nearest } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { DeclaredNames } from "../../model/declared-names.ts"
import type { TextArgument, Word } from "../ast.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import { listed } from "../schema/slots.ts"
import { type Decider, deciderOf, fitsDecider, fitsPdp, lowerProperties } from "./decider.ts"
import { type AuthWay, askedPlace, brings, providers, wordOf } from "./place.ts"
import type { Lowered, StepContext } from "./step.ts"
import type { StoreModel } from "./store-model.ts"

/** The constant part of an object or user: its type, and for a user the relation or `*` at its end. */
interface Subject {
  readonly type: string
  readonly relation: string | undefined
}

/** The lines of `require any` or `require all`: each is a `require` without its keyword. Undefined when one is invalid (reported). */
export function lowerAlternatives(
  bound: BoundStatement,
  word: "any" | "all",
  context: StepContext,
): readonly Lowered[] | undefined {
  const lines = bound.block?.statements ?? []
  const inside = lines.map((line) => {
    const { text, span } = line.statement.keyword
    const asked = lowerQuestion(line, { kind: "word", text, span }, context)
    return asked === undefined
      ? undefined
      : context.steps.add({ kind: "require", ...asked }, headSpan(line.statement))
  })
  const known = inside.filter((each) => each !== undefined)
  if (bound.broken || known.length < inside.length) return undefined
  if (known.length > 1) return known
  context.report.add("SP2009", headSpan(bound.statement), `\`require ${word}\` needs at least two lines`, {
    help: 'Add another line, e.g. `viewer of "order:${path.id}" for "user:${jwt.sub}"`.',
  })
  return undefined
}

/** The question, or the tuple to write. A user who asks must come from `auth`. A user who is granted a relation (`changed`) need not. */
export function lowerQuestion(
  bound: BoundStatement,
  relation: Word | undefined,
  context: StepContext,
  changed: Decider | null | "asked" = "asked",
): RelationQuestion | undefined {
  const { texts, place } = context
  const objectAt = bound.args.text("object")
  const userAt = bound.args.text("user")
  if (bound.broken || relation === undefined || objectAt === undefined || userAt === undefined)
    return undefined
  // `changed`: a grant writes to a store that the caller of this function has found.
  const decider = changed === "asked" ? deciderOf(bound, context) : (changed ?? undefined)
  const object = texts.lower(objectAt, place)
  // For the user, an uncertain value is an error below, so this warning is suppressed.
  const user = texts.lower(userAt, askedPlace(place))
  if (user !== undefined && changed === "asked") checkCertain(userAt, context)
  const fits = fitsDecider(bound.block, decider, context)
  const more = lowerCircumstances(bound.block, decider, context)
  if (object === undefined || user === undefined || decider === undefined || more === undefined || !fits)
    return undefined
  const objectIs = readSubject(object, objectAt.span, "object", context)
  const userIs = readSubject(user, userAt.span, "user", context)
  if (objectIs === undefined || userIs === undefined) return undefined
  // A decision point has no model: types and ids keep their form only.
  if ("pdp" in decider) {
    const asked = { relation, userAt: userAt.span, relationOfUser: userIs.relation }
    return fitsPdp(decider.pdp, asked, context)
      ? { ...decider, relation: relation.text, object, user, ...more }
      : undefined
  }
  const model = context.models.get(decider.store)
  const question = { relation, object: objectIs, user: userIs, objectAt, userAt }
  if (model !== undefined && !fitsModel(model, question, context)) return undefined
  checkNames(context.declaredNames.get(decider.store), question, context)
  return { ...decider, relation: relation.text, object, user, ...more }
}

/** `context NAME (CEL)` and `tuple "user:…" relation "object:…"` of a question. */
function lowerCircumstances(
  block: BoundBlock | undefined,
  decider: Decider | undefined,
  context: StepContext,
): Pick<RelationQuestion, "context" | "tuples" | "properties"> | undefined {
  const store = decider !== undefined && "store" in decider ? decider.store : undefined
  const properties = lowerProperties(block, context)
  const { expressions, texts, place } = context
  const values = statementsOf(block, "context").map(({ args }) => {
    const source = args.cel("value")
    const value = source === undefined ? undefined : expressions.lower(source, place)
    return value === undefined ? undefined : { key: args.value<string>("name") ?? "", value }
  })
  const tuples = statementsOf(block, "tuple").map(({ args }) => {
    const [userAt, objectAt, relation] = [args.text("user"), args.text("object"), args.word("relation")]
    if (userAt === undefined || objectAt === undefined || relation === undefined) return undefined
    const user = texts.lower(userAt, place)
    const object = texts.lower(objectAt, place)
    if (user === undefined || object === undefined) return undefined
    const objectIs = readSubject(object, objectAt.span, "object", context)
    const userIs = readSubject(user, userAt.span, "user", context)
    if (objectIs === undefined || userIs === undefined) return undefined
    const model = store === undefined ? undefined : context.models.get(store)
    const question = { relation, object: objectIs, user: userIs, objectAt, userAt }
    if (model !== undefined && !fitsModel(model, question, context)) return undefined
    return { user, relation: relation.text, object }
  })
  // All parts are read before this, so that one run reports all their mistakes.
  if (values.includes(undefined) || tuples.includes(undefined) || properties === undefined) return undefined
  return {
    ...properties,
    ...(values.length === 0 ? {} : { context: values.filter((each) => each !== undefined) }),
    ...(tuples.length === 0 ? {} : { tuples: tuples.filter((each) => each !== undefined) }),
  }
}

/**
 * Variable parts of a user must come from `auth`, for every way a caller can authenticate. Otherwise callers could choose who they are, or
 * one way of authentication would always end in an error.
 */
function checkCertain(argument: TextArgument | Word, context: StepContext): void {
  const { place, report, expressions, program } = context
  // Without `auth` nobody is known, and SP5004 says so at the expression.
  if (argument.kind !== "text" || place.auth.ways.length === 0) return
  for (const part of argument.parts) {
    // A named value is a constant of the plan, not something that a caller brings.
    if (part.kind !== "cel" || program.find("value", part.source.trim()) !== undefined) continue
    const variables = expressions.variables(part, place)
    const lacking = place.auth.ways.find((way) => !variables.some((name) => brings(way, name)))
    if (lacking === undefined) {
      checkPromised(part, context)
      continue
    }
    const known = variables.filter((name) => Object.hasOwn(providers, name))
    const detail =
      known.length === 0
        ? "the user comes from the request, not from `auth`: callers could claim to be another user"
        : `callers that use \`auth ${wordOf(lacking)}\` have no ${listed(
            known.map((name) => `\`${name}\``),
            "or",
          )}`
    report.add("SP5015", part.span, detail, {
      related: [{ span: place.auth.span ?? place.routeSpan, message: "the `auth` of the route" }],
    })
  }
}

/** Callers that have no claim but `sub`. */
const withSubAlone: Readonly<Record<string, string>> = { hmac: "callers with a signature" }

/** With several issuers, each must declare the claim. With one issuer, or if none declares it, the expression check already fails. */
function checkPromised(part: { readonly source: string; readonly span: Span }, context: StepContext): void {
  const { place, report } = context
  const claim = /^\s*jwt\.(\w+)/.exec(part.source)?.[1]
  // Another expression than a claim cannot be looked up here.
  if (claim === undefined) return
  const promises = ({ claims }: AuthWay) =>
    claims === undefined || claims === "any" || Object.hasOwn(claims, claim)
  const lacking = place.auth.ways.find((way) => !promises(way))
  // If no issuer declares the claim, the check of the expression has reported it.
  if (lacking === undefined || !place.auth.ways.some(promises)) return
  const whose =
    lacking.by === undefined
      ? `the tokens of \`${lacking.issuer}\``
      : (withSubAlone[lacking.by] ?? "users with passwords")
  report.add("SP5015", part.span, `${whose} have no claim \`${claim}\``, {
    related: [{ span: place.auth.span ?? place.routeSpan, message: "the `auth` of the route" }],
  })
}

/** A user or object. The type must be a constant: otherwise a caller could choose it, and no model could be checked. */
function readSubject(
  text: Text,
  span: Span,
  what: "object" | "user",
  { report }: StepContext,
): Subject | undefined {
  const parts = typeof text === "string" ? [text] : text.text
  const [first] = parts
  const last = parts.at(-1)
  const type = typeof first === "string" ? /^([^:#@\s]{1,254}):/.exec(first)?.[1] : undefined
  if (type === undefined) {
    const why =
      typeof first === "string"
        ? `\`${shown(first)}\` does not start with a type and \`:\``
        : `the type of the ${what} is not a constant`
    report.add("SP5014", span, why)
    return undefined
  }
  // An expression stands for one valid character, so that only the constants are judged.
  const constants = parts.map((part) => (typeof part === "string" ? part : "x")).join("")
  const rest = constants.slice(type.length + 1)
  const relation =
    typeof last === "string" && what === "user" ? /#([^:#@\s]{1,50})$/.exec(last)?.[1] : undefined
  const id = relation === undefined ? rest : rest.slice(0, -relation.length - 1)
  // `user:*` is every user, and a constant only: a caller must not be able to write the star.
  const wildcard = what === "user" && typeof text === "string" && id === "*"
  if (!wildcard && (id === "" || /[:#*\s]/.test(id))) {
    const why =
      id === ""
        ? `the id of the ${what} is empty`
        : `\`${shown(id)}\` is not a valid id: it cannot contain a space, \`:\`, \`#\` or \`*\``
    report.add("SP5014", span, why)
    return undefined
  }
  return { type, relation: wildcard ? "*" : relation }
}

interface Question {
  readonly relation: Word
  readonly object: Subject
  readonly user: Subject
  readonly objectAt: TextArgument | Word
  readonly userAt: TextArgument | Word
}

/** Whether the question can be answered by the model. A question that is always denied is an error too: it is a mistake in every case. */
function fitsModel(model: StoreModel, question: Question, context: StepContext): boolean {
  const { relation, object, user, userAt } = question
  const userset = user.relation === "*" ? undefined : user.relation
  const known = [
    hasType(model, object.type, question.objectAt.span, context),
    hasType(model, user.type, userAt.span, context),
  ]
  if (known[0] === true) known.push(hasRelation(model, object.type, relation.text, relation.span, context))
  if (known[1] === true && userset !== undefined)
    known.push(hasRelation(model, user.type, userset, userAt.span, context))
  if (known.includes(false)) return false
  // A relation that no such user can ever have would refuse every request.
  if (model.canReach(object.type, relation.text, user.type, user.relation)) return true
  const subject =
    user.relation === undefined
      ? user.type
      : user.relation === "*"
        ? `${user.type}:*`
        : `${user.type}#${userset}`
  const at = model.source.types.get(object.type)?.relations.get(relation.text)
  context.report.add(
    "SP5013",
    userAt.span,
    `the model never lets \`${subject}\` be \`${relation.text}\` of \`${object.type}\``,
    {
      ...reachedBy(model, object.type, relation.text),
      related: at === undefined ? [] : [{ span: at, message: "the relation" }],
    },
  )
  return false
}

/**
 * Reports misspelt names of a model with mistakes, which cannot be asked more. Only names that are similar to one of the model, and that its
 * text does not have anywhere: another may be what one of the mistakes hides.
 */
function checkNames(names: DeclaredNames | undefined, question: Question, context: StepContext): void {
  if (names === undefined) return
  const { relation, object, user, objectAt, userAt } = question
  const hint = (word: string, known: Iterable<string>) =>
    names.hasWord(word) ? "" : context.program.hint(word, [...known])
  const related = [{ span: names.file.span(0, 0), message: "the model" }]
  for (const [{ type }, { span }] of [
    [object, objectAt],
    [user, userAt],
  ] as const) {
    const near = names.types.has(type) ? "" : hint(type, names.types.keys())
    if (near !== "")
      context.report.add("SP5011", span, `the model has no type \`${type}\`${near}`, { related })
  }
  checkUsed(names, question, context)
  const relations = names.types.get(object.type)
  if (relations === undefined || relations.includes(relation.text)) return
  const near = hint(relation.text, relations)
  if (near === "") return
  const detail = `\`${object.type}\` has no relation \`${shown(relation.text)}\`${near}`
  context.report.add("SP5012", relation.span, detail, { related })
}

/** Reports a type that a model with mistakes uses nowhere, nor any similar name: none of its relations can have such users. */
function checkUsed(
  { types, used, file }: DeclaredNames,
  { relation, object, user, userAt }: Question,
  context: StepContext,
): void {
  const isType = user.relation === undefined || user.relation === "*"
  if (!isType || !types.has(user.type) || used.has(user.type)) return
  // An unknown word that is similar may be this type, misspelt in the model.
  const declared = new Set([...types.keys(), ...[...types.values()].flat()])
  if (
    nearest(
      user.type,
      [...used].filter((each) => !declared.has(each)),
    ) !== undefined
  )
    return
  const detail = `the model never lets \`${user.type}\` be \`${relation.text}\` of \`${object.type}\``
  const related = [{ span: file.span(0, 0), message: "the model" }]
  context.report.add("SP5013", userAt.span, detail, { related })
}

/** The remedy with the types of users that can have the relation. */
function reachedBy(model: StoreModel, type: string, relation: string): { help?: string } {
  const types = model.typeNames().filter((each) => model.canReach(type, relation, each, undefined))
  if (types.length === 0 || types.length > 5) return {}
  const named = listed(
    types.map((each) => `\`${each}\``),
    "or",
  )
  return {
    help: `Ask for a user of the type ${named}, ask for another relation, or allow the type in the model.`,
  }
}

function hasType(model: StoreModel, type: string, span: Span, { report, program }: StepContext): boolean {
  if (model.hasType(type)) return true
  report.add("SP5011", span, `the model has no type \`${type}\`${program.hint(type, model.typeNames())}`, {
    related: [{ span: model.source.file.span(0, 0), message: "the model" }],
  })
  return false
}

/** Reports an unknown relation, with the nearest name of the type. */
function hasRelation(
  model: StoreModel,
  type: string,
  relation: string,
  span: Span,
  { report, program }: StepContext,
): boolean {
  if (model.hasRelation(type, relation)) return true
  const at = model.source.types.get(type)?.span
  const hint = program.hint(relation, model.relationNames(type))
  report.add("SP5012", span, `\`${type}\` has no relation \`${shown(relation)}\`${hint}`, {
    related: at === undefined ? [] : [{ span: at, message: `the type \`${type}\`` }],
  })
  return false
}

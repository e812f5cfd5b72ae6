import type { EngineAuth, EngineGrants } from "../../../runtime/plan/authz.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import {
  type BoundBlock,
  type BoundStatement,
  headSpan,
  mentions,
  statementOf,
  statementsOf,
} from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { anyAudience } from "./issuer.ts"
import type { KeyUses } from "./key-uses.ts"
import type { Values } from "./values.ts"

/** Which callers can use the engine's API; null if it demands no authentication. */
export function lowerEngineAuth(
  program: Program,
  values: Values,
  keyUses: KeyUses,
  report: Report,
): EngineAuth | null {
  const statements = statementsOf(program.authz?.block, "auth")
  // `auth none` has no arguments.
  const none = statements.find(({ args }) => args.filled.length === 0)
  const others = statements.filter((each) => each !== none && each.args.filled.length > 0)
  const [other] = others
  if (none !== undefined && other !== undefined)
    report.add(
      "SP3007",
      headSpan(none.statement),
      "every caller may use the engine, whatever the other statements require",
      {
        related: [{ span: headSpan(other.statement), message: "the other `auth`" }],
      },
    )
  // Only `auth none`, or nothing: both mean that the engine does not authenticate.
  if (other === undefined) return null
  const lowering = new Lowering(program, report)
  const auth: EngineAuth = { keys: {}, issuers: {} }
  for (const each of others) {
    const key = each.args.word("key")
    const issuer = each.args.word("issuer")
    if (key !== undefined) {
      keyUses.add(key, "engine")
      const grants = lowering.grants(each)
      // A value instead of a secret is reported by the binder. Its grants were read, so that their mistakes are found, too.
      if (program.find("secret", key.text)?.kind !== "secret") continue
      values.needSecret(key.text)
      auth.keys[key.text] = grants
    } else if (issuer !== undefined) {
      const lowered = lowering.issuer(each, Object.hasOwn(auth.issuers, issuer.text))
      // An unknown issuer is reported by the binder.
      if (program.find("issuer", issuer.text) !== undefined) auth.issuers[issuer.text] = lowered
    }
  }
  return auth
}

/** Callers of the engine and their grants. */
class Lowering {
  readonly #program: Program
  readonly #report: Report

  constructor(program: Program, report: Report) {
    this.#program = program
    this.#report = report
  }

  /**
   * `again`: another `auth jwt` names the same issuer. A token for any audience is refused: a token that another service received could be
   * used here.
   */
  issuer(bound: BoundStatement, again: boolean): EngineAuth["issuers"][string] {
    const word = bound.args.word("issuer")
    if (again && word !== undefined)
      this.#report.add("SP2016", word.span, `the issuer \`${word.text}\` is given twice`)
    const declared = word === undefined ? undefined : this.#program.find("issuer", word.text)
    const any = anyAudience(declared?.bound.block)
    if (word !== undefined && any !== undefined)
      this.#report.add("SP3024", word.span, `\`${word.text}\` accepts tokens for any audience`, {
        related: [{ span: any.statement.keyword.span, message: "`audience *`" }],
      })
    const { block } = bound
    const subjects = new Map<string, { grants: EngineGrants; span: Span }>()
    for (const statement of statementsOf(block, "subject")) {
      const grants = this.grants(statement)
      for (const { argument, value } of statement.args.all("subject"))
        this.#addSubject(subjects, value as string, { grants, span: argument.span })
    }
    const anySubject = this.#anySubject(block)
    // A damaged block may have had the statement.
    if (block?.damaged === false && !mentions(block, "subject"))
      this.#report.add(
        "SP2009",
        headSpan(bound.statement),
        "it grants no permissions: there is no `subject`",
        {
          help: 'Add `subject "NAME" { read STORE }`, or `subject * { … }` for any subject.',
        },
      )
    return {
      subjects: [...subjects]
        // Sorted: the order of callers must not change the plan.
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([subject, { grants }]) => ({ subject, grants })),
      anySubject: anySubject === undefined ? null : this.grants(anySubject),
    }
  }

  /** The permissions in the block of a key or subject. */
  grants({ statement, block }: BoundStatement): EngineGrants {
    const read = this.#stores(block, "read")
    const write = this.#stores(block, "write")
    const manage = mentions(block, "manage")
    if (block?.damaged === false && !mentions(block, "read") && !mentions(block, "write") && !manage)
      this.#report.add(
        "SP3025",
        headSpan(statement),
        "this caller has no permission to read, write or manage anything",
      )
    // The statement and not `mentions`: a broken `manage` must not grant anything.
    return { read, write, manage: statementOf(block, "manage") !== undefined }
  }

  /** `subject *`, which is the one without a slot. */
  #anySubject(block: BoundBlock | undefined): BoundStatement | undefined {
    const [first, second] = statementsOf(block, "subject").filter(({ args }) => args.filled.length === 0)
    if (first !== undefined && second !== undefined)
      this.#report.add("SP2016", headSpan(second.statement), "`subject *` is given twice", {
        related: [{ span: headSpan(first.statement), message: "the first" }],
      })
    return first
  }

  /** Two grants for one subject are an error: it would be unclear which applies. */
  #addSubject(
    subjects: Map<string, { grants: EngineGrants; span: Span }>,
    subject: string,
    next: { grants: EngineGrants; span: Span },
  ): void {
    const earlier = subjects.get(subject)
    if (earlier === undefined) subjects.set(subject, next)
    else
      this.#report.add("SP2016", next.span, `the subject \`${subject}\` is given twice`, {
        related: [{ span: earlier.span, message: "the first" }],
      })
  }

  /** The stores of a grant. `*` beside names is an error, because the names look like a restriction and are none in effect. */
  #stores(block: BoundBlock | undefined, right: "read" | "write"): EngineGrants["read"] {
    const statements = statementsOf(block, right)
    const every = statements.find(({ args }) => args.filled.length === 0)
    const other = statements.find(({ args }) => args.filled.length > 0)
    if (every !== undefined && other !== undefined)
      this.#report.add("SP2017", headSpan(other.statement), "`*` includes every store already", {
        related: [{ span: headSpan(every.statement), message: `\`${right} *\`` }],
      })
    if (every !== undefined) return "*"
    const stores = new Map<string, Span>()
    for (const word of statements.flatMap(({ args }) => args.words("store"))) {
      const earlier = stores.get(word.text)
      if (earlier !== undefined)
        this.#report.add("SP2016", word.span, `the store \`${word.text}\` is given twice`, {
          related: [{ span: earlier, message: "the first" }],
        })
      // An unknown store is reported by the binder.
      else if (this.#program.find("store", word.text) !== undefined) stores.set(word.text, word.span)
    }
    return [...stores.keys()].sort()
  }
}

import { randomBytes } from "node:crypto"
import { type Access, createAccess, type Grants } from "../authz/access.ts"
import type { References } from "../gateway/generation/references.ts"
import type { EngineAuth, EngineGrants } from "../plan/authz.ts"
import type { PlanBody } from "../plan/plan.ts"
import { ListenerAccess, type ListenerAccessSettings, type Verifiers } from "./listener-access.ts"

/** What the engine's listeners need to authenticate callers. */
export interface EngineAccessSettings extends ListenerAccessSettings {
  /** The key of this process, when it is made elsewhere (default: a random one). */
  readonly ownKey?: string | undefined
}

/** The callers of the engine in a plan. */
interface EngineCallers {
  readonly access: Access | undefined
  readonly authzenUrl: string | undefined
}

/** A key with which a process calls an engine for operators. */
export function newOwnKey(): string {
  return randomBytes(32).toString("base64url")
}

const everything: Grants = { read: "*", write: "*", manage: true }

/** Authenticates callers of the engine across plans. This process has a key of its own, for the requests it forwards for operators. */
export class EngineAccess extends ListenerAccess<EngineCallers> {
  /** Value of the `Authorization` header of this process. */
  readonly authorization: string

  constructor(settings: EngineAccessSettings) {
    const ownKey = settings.ownKey ?? newOwnKey()
    super(settings, {
      name: "authz",
      issuers: ({ authz }) => Object.keys(authz?.auth?.issuers ?? {}),
      isTraced: ({ authz }) => authz !== null,
      keys: ({ authz }) => Object.keys(authz?.auth?.keys ?? {}),
      callers: (plan, references, verifiers) => callersOf(plan, { ownKey, references, verifiers }),
    })
    this.authorization = `Bearer ${ownKey}`
  }

  /** Undefined: callers need no authentication. */
  get access(): Access | undefined {
    return this.callers?.access
  }

  /** The URL in AuthZEN's metadata, if the plan declares one. */
  get authzenUrl(): string | undefined {
    return this.callers?.authzenUrl
  }
}

/** What the callers of a plan are made of. */
interface CallerParts {
  readonly ownKey: string
  readonly references: References
  readonly verifiers: Verifiers
}

function callersOf({ authz }: PlanBody, parts: CallerParts): EngineCallers {
  const auth = authz?.auth ?? null
  const url = authz?.authzen.url ?? null
  return {
    access: auth === null ? undefined : accessOf(auth, parts),
    authzenUrl: url === null ? undefined : parts.references.text(url),
  }
}

/** The callers with their grants. */
function accessOf(auth: EngineAuth, { ownKey, references, verifiers }: CallerParts): Access {
  const keys = Object.entries(auth.keys).map(([name, grants]) => ({
    name,
    key: references.secrets.get(name) ?? "",
    grants: grantsOf(grants),
  }))
  const issuers = Object.entries(auth.issuers).flatMap(([name, { subjects, anySubject }]) => {
    const held = verifiers.get(name)
    if (held === undefined) return []
    return [
      {
        verifier: held.value,
        subjects: new Map(subjects.map(({ subject, grants }) => [subject, grantsOf(grants)])),
        anySubject: anySubject === null ? undefined : grantsOf(anySubject),
      },
    ]
  })
  return createAccess([...keys, { name: "operator", key: ownKey, grants: everything }], issuers)
}

function grantsOf({ read, write, manage }: EngineGrants): Grants {
  return {
    read: read === "*" ? read : new Set(read),
    write: write === "*" ? write : new Set(write),
    manage,
  }
}

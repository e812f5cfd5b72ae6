import {
  addCertificate,
  certificatesServed,
  type ReadCertificates,
  readClientTrusts,
  type Transports,
  transportsOf,
} from "../gateway/generation/certificates.ts"
import { FileWatch, type SeenFile } from "../gateway/generation/file-watch.ts"
import { Held } from "../gateway/generation/held.ts"
import { issuerSettingsOf } from "../gateway/generation/issuer-settings.ts"
import { listenersOf } from "../gateway/generation/listen-addresses.ts"
import { LoadError } from "../gateway/generation/load-error.ts"
import { collectSecrets } from "../gateway/generation/parts-of-plan.ts"
import {
  type Outside,
  type References,
  readAuthorities,
  resolveReferences,
} from "../gateway/generation/references.ts"
import { type OpenTracer, provisionTracer, type TracerMaker } from "../gateway/generation/tracer-of-plan.ts"
import type { ManagedCertificates } from "../http/server/managed-certificates.ts"
import type { OcspStaples } from "../http/server/ocsp-staples.ts"
import type { TicketKeys } from "../http/server/ticket-keys.ts"
import type { IssuerSettings } from "../identity/issuer.ts"
import type { TokenVerifier } from "../identity/verifier.ts"
import { digestOf } from "../plan/canonical.ts"
import type { Plan, PlanBody } from "../plan/plan.ts"
import type { ListenerPlan, ListeningSide } from "../plan/resources.ts"
import type { Tracer } from "../tracing/tracer.ts"

/** What internal listeners need to reach and authenticate callers. */
export interface ListenerAccessSettings extends Outside {
  readonly createVerifier: (settings: IssuerSettings) => TokenVerifier
  /** Called when changed key files were read again, or with the error when they could not be (the old keys stay in use). */
  readonly onReload: (error: LoadError | undefined) => void
  /** Interval of checks for changed files, in milliseconds (default: 2000). */
  readonly filesEveryMs?: number | undefined
  /** Absent: plans with certificates from ACME are refused. */
  readonly managed?: ManagedCertificates | undefined
  /** Absent: requests are not traced. */
  readonly openTracer?: OpenTracer | undefined
  /** The keys of the session tickets of its listeners. */
  readonly tickets?: TicketKeys | undefined
  /** The OCSP responses for its certificates (default: none are stapled). */
  readonly staples?: OcspStaples | undefined
}

/** Verifiers of a plan's issuers, by name. */
export type Verifiers = ReadonlyMap<string, Held<TokenVerifier>>

/** The part of a plan with the listeners, and who may call them. */
export interface AccessSide<Callers> {
  readonly name: Exclude<ListeningSide, "gateway">
  /** Names of the issuers whose tokens callers have. */
  issuers(plan: PlanBody): readonly string[]
  /** Names of the secrets that callers have. */
  keys(plan: PlanBody): readonly string[]
  /** Whether its requests are traced as those of the gateway. */
  isTraced(plan: PlanBody): boolean
  /** The callers. @throws Error with what is wrong */
  callers(plan: PlanBody, references: References, verifiers: Verifiers): Callers
}

/** The callers of a plan that does not run yet. */
export interface PreparedAccess {
  readonly transports: Transports
  /** The listeners, with the addresses that come from outside. */
  readonly listen: readonly ListenerPlan[]
  activate(): void
  discard(): void
}

interface Provisioned<Callers> {
  readonly plan: Plan
  readonly callers: Callers
  readonly verifiers: Verifiers
  /** How clients reach each listener, by `host:port`. */
  readonly transports: Transports
  readonly listen: readonly ListenerPlan[]
  readonly tracer: Held<Tracer> | undefined
  readonly files: readonly SeenFile[]
  readonly acme: ReadCertificates["acme"]
}

/**
 * Certificates and callers of internal listeners across plans. Issuers that stay in the plan keep their keys and their verified tokens. Files
 * are read again when they change.
 */
export class ListenerAccess<Callers> {
  readonly #settings: ListenerAccessSettings
  readonly #side: AccessSide<Callers>
  readonly #watch: FileWatch
  #current: Provisioned<Callers> | undefined
  /** Prepares the running plan again after its files changed. Listeners set it, because their addresses may move. */
  onChange: (plan: Plan) => Promise<{ activate(): void; discard(): unknown }> = (plan) => this.prepare(plan)
  /** Plans that are prepared, and neither activated nor discarded. */
  #pending = 0
  #wasChanged = false

  constructor(settings: ListenerAccessSettings, side: AccessSide<Callers>) {
    this.#settings = settings
    this.#side = side
    this.#watch = new FileWatch(() => void this.#reload(), settings.filesEveryMs)
  }

  /** The part of a plan with its listeners. */
  get side(): AccessSide<Callers>["name"] {
    return this.#side.name
  }

  /** Undefined: no plan runs. */
  get callers(): Callers | undefined {
    return this.#current?.callers
  }

  /** Traces of the running plan; undefined: requests are not traced. */
  get tracer(): Tracer | undefined {
    return this.#current?.tracer?.value
  }

  issuers(): Readonly<Record<string, ReturnType<TokenVerifier["state"]>>> {
    const verifiers = [...(this.#current?.verifiers ?? [])]
    return Object.fromEntries(verifiers.map(([name, { value }]) => [name, value.state()]))
  }

  /**
   * Reads keys and makes verifiers.
   * @throws LoadError with all problems; then nothing has changed
   */
  async prepare(plan: Plan): Promise<PreparedAccess> {
    this.#pending += 1
    const next = await this.#provision(plan).catch((error: unknown) => {
      this.#settled()
      throw error
    })
    return {
      ...{ transports: next.transports, listen: next.listen },
      activate: () => {
        const before = this.#current
        this.#current = next
        release(before)
        this.#watch.watch(next.files)
        this.#settings.staples?.use(this.#side.name, certificatesServed(next.transports))
        this.#settings.managed?.use(this.#side.name, next.acme, () => void this.#reload())
        this.#settled()
      },
      discard: () => {
        release(next)
        this.#settled()
      },
    }
  }

  #settled(): void {
    this.#pending -= 1
    if (this.#pending > 0 || !this.#wasChanged) return
    this.#wasChanged = false
    void this.#reload()
  }

  close(): void {
    this.#watch.close()
    release(this.#current)
    this.#current = undefined
  }

  /** Reads keys again after a file was changed. On a failure the old ones stay in use. */
  async #reload(): Promise<void> {
    const plan = this.#current?.plan
    if (plan === undefined) return
    // What another plan opens beside the running one would not fit to addresses that move meanwhile.
    if (this.#pending > 0) {
      this.#wasChanged = true
      return
    }
    try {
      const prepared = await this.onChange(plan)
      // Another plan may have been activated meanwhile, with keys that were read later.
      if (this.#current?.plan !== plan || this.#pending > 1) {
        this.#wasChanged = true
        await prepared.discard()
        return
      }
      prepared.activate()
      this.#settings.onReload(undefined)
    } catch (error) {
      this.#settings.onReload(error instanceof LoadError ? error : new LoadError([(error as Error).message]))
    }
  }

  /** Only the secrets that this side uses are read. */
  async #provision(plan: Plan): Promise<Provisioned<Callers>> {
    const { name: side } = this.#side
    const wanted = new Set(this.#side.keys(plan.plan))
    for (const name of this.#side.issuers(plan.plan)) {
      const source = plan.plan.issuers[name]?.source
      if (source !== undefined && "inline" in source)
        for (const key of source.inline) if ("secret" in key) wanted.add(key.secret)
    }
    const certificates = new Set(
      (plan.plan[side]?.listen ?? []).flatMap(({ tls }) => tls?.certificates ?? []),
    )
    for (const name of certificates) collectSecrets(plan.plan.certificates?.[name], wanted)
    if (this.#side.isTraced(plan.plan)) collectSecrets(plan.plan.gateway?.tracing?.headers, wanted)
    const references = await resolveReferences(plan, wanted, this.#settings)
    const listen = listenersOf(plan, side, references, this.#settings)
    const { transports, files, acme } = await this.#transports(plan, listen, references)
    const traced = await this.#tracer(plan, references)
    const verifiers = this.#verifiers(plan, references)
    try {
      const callers = this.#side.callers(plan.plan, references, verifiers)
      const all = [...references.files, ...files, ...traced.files]
      return { plan, callers, verifiers, transports, listen, acme, tracer: traced.tracer, files: all }
    } catch (error) {
      for (const held of verifiers.values()) held.release()
      traced.tracer?.release()
      const origin = plan.origins[side]
      const message = error instanceof Error ? error.message : String(error)
      throw new LoadError([origin === undefined ? message : `${origin}: ${message}`])
    }
  }

  /**
   * The tracer of the plan, or that of the running plan.
   * @throws LoadError when its authorities or the URL of the collector cannot be used
   */
  async #tracer(
    plan: Plan,
    references: References,
  ): Promise<{ readonly tracer: Held<Tracer> | undefined; readonly files: readonly SeenFile[] }> {
    const files: SeenFile[] = []
    if (!this.#side.isTraced(plan.plan)) return { tracer: undefined, files }
    const maker: TracerMaker = {
      references,
      dependencies: this.#settings,
      attemptLater: async (place, make) => {
        try {
          await make()
        } catch (error) {
          throw new LoadError([`${plan.origins[place] ?? place}: ${(error as Error).message}`])
        }
      },
      readAuthorities: (what, file) => readAuthorities(this.#settings, what, file, files),
      take: (before, key, make) => {
        if (before?.key === key) return before.hold()
        const { value, close } = make()
        return new Held(key, value, close)
      },
    }
    return { tracer: await provisionTracer(maker, plan.plan, this.#current), files }
  }

  /** @throws LoadError with all certificates that cannot be used */
  async #transports(
    plan: Plan,
    listen: readonly ListenerPlan[],
    references: References,
  ): Promise<Pick<Provisioned<Callers>, "transports" | "files" | "acme">> {
    const { name: side } = this.#side
    const files: SeenFile[] = []
    const problems: string[] = []
    const read: ReadCertificates = { found: new Map(), acme: [] }
    for (const name of new Set(listen.flatMap(({ tls }) => tls?.certificates ?? []))) {
      const certificate = plan.plan.certificates?.[name]
      if (certificate === undefined) continue
      try {
        const from = { dependencies: this.#settings, files, references }
        await addCertificate(name, certificate, from, read)
      } catch (error) {
        problems.push(`${plan.origins[`certificates.${name}`] ?? side}: ${(error as Error).message}`)
      }
    }
    if (problems.length > 0) throw new LoadError(problems)
    const { trusts, files: trustFiles } = await readClientTrusts(plan, { side, listen }, this.#settings)
    const { managed, tickets, staples } = this.#settings
    const running = this.#current?.transports
    const parts = { certificates: read.found, trusts, managed, tickets, staples, running }
    return {
      transports: transportsOf(plan, { side, listen }, parts),
      files: [...files, ...trustFiles],
      acme: read.acme,
    }
  }

  /** A verifier for each issuer; one with the same settings is kept, with its keys. */
  #verifiers({ plan }: Plan, references: References): Map<string, Held<TokenVerifier>> {
    const verifiers = new Map<string, Held<TokenVerifier>>()
    for (const name of this.#side.issuers(plan)) {
      const issuer = plan.issuers[name]
      if (issuer === undefined) continue
      const settings = issuerSettingsOf(name, issuer, references, this.#settings.folder)
      const key = digestOf(settings)
      const before = this.#current?.verifiers.get(name)
      if (before?.key === key) verifiers.set(name, before.hold())
      else {
        const verifier = this.#settings.createVerifier(settings)
        verifiers.set(name, new Held(key, verifier, () => verifier.close()))
      }
    }
    return verifiers
  }
}

function release(
  provisioned: { readonly verifiers: Verifiers; readonly tracer: Held<Tracer> | undefined } | undefined,
): void {
  for (const held of provisioned?.verifiers.values() ?? []) held.release()
  provisioned?.tracer?.release()
}

import { createHash, randomUUID, X509Certificate } from "node:crypto"
import { createSecureContext, type SecureContext } from "node:tls"
import type { AcmeSettings, ManagedCertificates } from "../http/server/managed-certificates.ts"
import {
  type AcmeRecord,
  acmeHoldSeconds,
  findAcmeAccount,
  findEarlier,
  findResponse,
  holdAcme,
  keepAccount,
  listenToAcme,
  publishResponse,
  readAcme,
  releaseAcme,
  storeFailure,
  storeIssued,
  withdrawResponses,
} from "../store/acme.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import { AuthorityThread } from "./authority-thread.ts"
import { type IssuedPair, OrderFailed, type OrderSettings, type PublishedChallenge } from "./messages.ts"
import { newPrivateKey } from "./private-key.ts"
import { nextQuestion, renewalMsMin, renewalOf, retryOf, timeWithin } from "./schedule.ts"
import { Seal } from "./seal.ts"

/** Where a process keeps certificates, encrypted, for a start without the database. */
export interface CertificateDisk {
  /** Undefined: there is none. */
  read(id: string): Promise<string | undefined>
  write(id: string, sealed: string): Promise<void>
}

/** What the certificates of a process need. */
export interface AcmeCertificatesSettings {
  readonly database: Database
  readonly log: Log
  /** Absent: a process that starts without the database has no certificates. */
  readonly disk?: CertificateDisk | undefined
  /** Whether this process orders (default: true). Otherwise it only serves what others ordered. */
  readonly orders?: boolean
  /** How often the database is read, in milliseconds (default: 5000). */
  readonly pollMs?: number
  /** The wall clock in milliseconds. */
  readonly now?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
  /** Called after each order: for metrics. */
  readonly onOrder?: (certificate: string, result: "issued" | "failed") => void
}

/** The state of a certificate, for `status` and metrics. Times in milliseconds; null: not known. */
export interface AcmeState
  extends Pick<AcmeRecord, "failures" | "notAfterMs" | "renewAtMs" | "retryAtMs" | "reason"> {
  readonly name: string
  readonly hosts: readonly string[]
  /** Whether there is a certificate for these hosts, or for those that the plan named before. */
  readonly isServed: boolean
}

/** A certificate that the plan names, with what the database has of it. */
interface Managed {
  settings: AcmeSettings
  readonly id: string
  readonly lineage: string
  readonly seal: Seal
  record: AcmeRecord | undefined
  pair: IssuedPair | undefined
  /** What is served until `pair` is there: the certificate for the hosts that the plan named before. */
  earlier: IssuedPair | undefined
  /** Whether this process has ordered it with these settings: then the pause after a failure applies. */
  isTried: boolean
}

interface User {
  readonly ids: ReadonlySet<string>
  readonly onChange: () => void
}

/** Answers of the database to challenges that may be looked up at a time: anybody can ask. */
const lookupsMax = 20
const pollMsDefault = 5_000

/**
 * Certificates from ACME authorities. Each process reads them from the database, and one process of the fleet, the one that reserves the record first,
 * orders and renews. The schedule, failures included, is in the database, so a restart changes nothing.
 */
export class AcmeCertificates implements ManagedCertificates {
  readonly #settings: AcmeCertificatesSettings
  readonly #holder = randomUUID()
  readonly #now: () => number
  readonly #random: () => number
  readonly #managed = new Map<string, Managed>()
  readonly #users = new Map<string, User>()
  readonly #responses = new Map<string, string>()
  #lookups = 0
  #timer: NodeJS.Timeout | undefined
  #unlisten: () => void = () => undefined
  #reading: Promise<void> | undefined
  #ordering: Promise<void> | undefined
  #again = false
  readonly #closing = new AbortController()
  readonly #authority = new AuthorityThread()

  constructor(settings: AcmeCertificatesSettings) {
    this.#settings = settings
    this.#now = settings.now ?? Date.now
    this.#random = settings.random ?? Math.random
  }

  async obtain(settings: AcmeSettings): Promise<IssuedPair | undefined> {
    const managed = this.#manage(settings)
    // While the database is unavailable, the listener starts with the one on disk, or without, and gets the newest later.
    if (managed.record === undefined) await this.#read([managed]).catch(() => this.#readDisk(managed))
    return managed.pair ?? managed.earlier
  }

  use(user: string, settings: readonly AcmeSettings[], onChange: () => void): void {
    const ids = new Set(settings.map((each) => this.#manage(each).id))
    this.#users.set(user, { ids, onChange })
    const used = new Set([...this.#users.values()].flatMap((each) => [...each.ids]))
    for (const id of this.#managed.keys()) if (!used.has(id)) this.#managed.delete(id)
    if (used.size > 0 && this.#settings.orders === false)
      this.#settings.log.warn(
        { certificates: settings.map(({ name }) => name) },
        "this process orders no certificates: TLS handshakes for their hosts fail",
      )
    if (used.size > 0) this.#start()
  }

  async response(token: string): Promise<string | undefined> {
    return this.#responses.get(token) ?? this.#lookUp({ token })
  }

  async validation(host: string): Promise<SecureContext | undefined> {
    const response = await this.#lookUp({ host })
    if (response === undefined) return undefined
    return createSecureContext(await this.#authority.validation(host, response))
  }

  /** The certificates that this process serves. */
  get states(): readonly AcmeState[] {
    return [...this.#managed.values()].map(({ settings: { name, hosts }, record, pair, earlier }) => ({
      ...{
        name,
        hosts,
        isServed: (pair ?? earlier) !== undefined,
        failures: record?.failures ?? 0,
        reason: record?.reason ?? "",
      },
      notAfterMs: record?.notAfterMs ?? null,
      renewAtMs: record?.renewAtMs ?? null,
      retryAtMs: record?.retryAtMs ?? null,
    }))
  }

  /** Reads the database now, and begins to order what is due. Does not reject. */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) this.#again = true
    this.#reading ??= this.#look().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Ends an order in progress: another process begins a new one. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    this.#unlisten()
    await this.#reading
    await this.#ordering
    await this.#authority.end()
  }

  #start(): void {
    if (this.#isClosed) return
    if (this.#timer === undefined) {
      const { database, pollMs = pollMsDefault } = this.#settings
      this.#unlisten = listenToAcme(database, () => void this.refresh())
      this.#timer = setInterval(() => void this.refresh(), pollMs).unref()
    }
    void this.refresh()
  }

  #manage(settings: AcmeSettings): Managed {
    const seal = new Seal(settings.protectedBy)
    const id = idOf(settings, seal)
    let managed = this.#managed.get(id)
    if (managed === undefined) {
      const lineage = digestOf([settings.name, settings.directory, seal.keyId])
      managed = {
        settings,
        id,
        lineage,
        seal,
        record: undefined,
        pair: undefined,
        earlier: undefined,
        isTried: false,
      }
      this.#managed.set(id, managed)
    }
    if (triedOf(managed.settings, seal) !== triedOf(settings, seal)) managed.isTried = false
    managed.settings = settings
    return managed
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #look(): Promise<void> {
    do {
      this.#again = false
      // While the database is unavailable, the next round tries again, and other parts report it.
      await this.#read([...this.#managed.values()]).catch(() => undefined)
    } while (this.#again && !this.#isClosed)
    // Orders take seconds or minutes, in which certificates that other processes ordered are read.
    this.#ordering ??= this.#orderAll().finally(() => {
      this.#ordering = undefined
    })
  }

  async #orderAll(): Promise<void> {
    for (const managed of [...this.#managed.values()])
      if (this.#isDue(managed)) await this.#attend(managed).catch(() => undefined)
  }

  async #read(managed: readonly Managed[]): Promise<void> {
    if (managed.length === 0) return
    const { database } = this.#settings
    const changed = new Set<string>()
    const wanted = managed.map(({ id, lineage, record, pair }) => ({
      ...{ id, lineage, version: pair === undefined ? 0 : (record?.version ?? 0) },
    }))
    for (const record of await readAcme(database, wanted)) {
      const known = managed.find(({ id }) => id === record.id)
      if (known === undefined) continue
      known.record = record
      if (record.sealed !== null) {
        known.pair = this.#opened(known, record.id, record.sealed)
        if (known.pair !== undefined) {
          changed.add(known.id)
          await this.#writeDisk(known, record.sealed)
        }
      } else if (known.pair === undefined && known.earlier === undefined) {
        const found = await findEarlier(database, known.lineage)
        if (found !== undefined) known.earlier = this.#opened(known, found.id, found.sealed)
      }
    }
    for (const { ids, onChange } of this.#users.values())
      if ([...ids].some((id) => changed.has(id))) onChange()
  }

  async #readDisk(managed: Managed): Promise<void> {
    const sealed = await this.#settings.disk?.read(managed.id)
    if (sealed === undefined || managed.pair !== undefined) return
    const kept = this.#opened(managed, managed.id, sealed)
    if (kept === undefined || Date.parse(new X509Certificate(kept.cert).validTo) <= this.#now()) return
    managed.earlier = kept
    const { name } = managed.settings
    this.#settings.log.warn(
      { certificate: name },
      "the certificate is read from disk, because the database is unavailable",
    )
  }

  async #writeDisk({ id, settings: { name } }: Managed, sealed: string): Promise<void> {
    await this.#settings.disk?.write(id, sealed).catch((error: unknown) => {
      this.#settings.log.warn(
        { certificate: name, reason: (error as Error).message },
        "the certificate could not be saved on disk for a start without the database",
      )
    })
  }

  #opened({ seal, settings }: Managed, id: string, sealed: string): IssuedPair | undefined {
    try {
      return JSON.parse(seal.open(id, sealed)) as IssuedPair
    } catch (error) {
      this.#settings.log.error(
        { certificate: settings.name, reason: (error as Error).message },
        "the stored certificate cannot be decrypted: it was changed in the database or on disk",
      )
      return undefined
    }
  }

  #isDue({ id, settings, seal, record, pair, isTried }: Managed): boolean {
    const isUsed = [...this.#users.values()].some(({ ids }) => ids.has(id))
    if (this.#settings.orders === false || this.#isClosed || !isUsed || record === undefined || record.held)
      return false
    const nowMs = this.#now()
    // An operator who has corrected the settings does not wait for the pause after the mistake.
    const pauses = isTried || record.tried === triedOf(settings, seal)
    if (pauses && record.retryAtMs !== null && record.retryAtMs > nowMs) return false
    return pair === undefined || isPast(record.renewAtMs, nowMs) || isPast(record.suggestAtMs, nowMs)
  }

  async #attend(managed: Managed): Promise<void> {
    const { database } = this.#settings
    const { record, pair } = managed
    if (record === undefined || !(await holdAcme(database, this.#holder, record))) return
    if (pair === undefined || isPast(record.renewAtMs, this.#now())) await this.#order(managed, record)
    else {
      const times = await this.#suggested(managed.settings, pair.cert, record.renewAtMs)
      await releaseAcme(database, this.#holder, record.id, times)
      void this.refresh()
    }
  }

  /** Orders a certificate. Its challenges can be found until the order has ended. @throws OrderFailed */
  async #issue(managed: Managed, replaced: string | undefined): Promise<IssuedPair> {
    const tokens: string[] = []
    const publish = async (challenge: PublishedChallenge) => {
      tokens.push(challenge.token)
      this.#responses.set(challenge.token, challenge.response)
      await publishResponse(this.#settings.database, challenge)
    }
    try {
      const accountKey = await this.#account(managed)
      const terms = { signal: this.#timeLimit(), publish }
      return await this.#authority.order(orderOf(managed.settings), accountKey, replaced, terms)
    } finally {
      for (const token of tokens) this.#responses.delete(token)
      await withdrawResponses(this.#settings.database, tokens).catch(() => undefined)
    }
  }

  /** The times that the authority suggests. If it does not answer, the present ones stay. */
  async #suggested(settings: AcmeSettings, cert: string, presentMs: number | null) {
    const nowMs = this.#now()
    try {
      const found = await this.#authority.suggestion(orderOf(settings), cert, nowMs, this.#timeLimit())
      if (found === undefined) return { renewAtMs: presentMs, suggestAtMs: null }
      return { renewAtMs: timeWithin(found.window, presentMs, this.#random()), suggestAtMs: found.nextMs }
    } catch {
      return { renewAtMs: presentMs, suggestAtMs: nextQuestion(nowMs, undefined) }
    }
  }

  async #order(managed: Managed, record: AcmeRecord): Promise<void> {
    const { database, log, onOrder } = this.#settings
    const { settings, id, seal, pair } = managed
    const { name, hosts, directory } = settings
    log.info({ certificate: name, hosts, directory }, "ordering a certificate")
    managed.isTried = true
    try {
      const issued = await this.#issue(managed, pair?.cert)
      const { validFrom, validTo } = new X509Certificate(issued.cert)
      const notAfterMs = Date.parse(validTo)
      const atThirds = renewalOf(Date.parse(validFrom), notAfterMs, this.#random())
      const suggested = await this.#suggested(settings, issued.cert, atThirds)
      const renewAtMs = Math.max(suggested.renewAtMs ?? atThirds, this.#now() + renewalMsMin)
      const sealed = seal.close(id, JSON.stringify(issued))
      await storeIssued(database, this.#holder, { ...suggested, id, sealed, notAfterMs, renewAtMs })
      const [notAfter, renewAt] = [notAfterMs, renewAtMs].map((ms) => new Date(ms).toISOString())
      log.info({ certificate: name, hosts, notAfter, renewAt }, "a certificate was issued")
      onOrder?.(name, "issued")
    } catch (error) {
      if (this.#isClosed) {
        await releaseAcme(database, this.#holder, id, { renewAtMs: null, suggestAtMs: record.suggestAtMs })
        return
      }
      const reason = error instanceof Error ? error.message : String(error)
      const failures = record.failures + 1
      const askedMs = error instanceof OrderFailed ? error.pauseMs : 0
      const retryAtMs = retryOf(failures, this.#now(), this.#random(), askedMs)
      const nextAttempt = new Date(retryAtMs).toISOString()
      log.warn(
        { certificate: name, hosts, directory, reason, failures, nextAttempt },
        "a certificate could not be ordered",
      )
      onOrder?.(name, "failed")
      await storeFailure(database, this.#holder, { id, retryAtMs, reason, tried: triedOf(settings, seal) })
    }
    void this.refresh()
  }

  /** Ends an order before another process may begin one. */
  #timeLimit(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout((acmeHoldSeconds - 30) * 1_000)])
  }

  /** The key of the account at the authority, made when it is first needed. Processes that do so at the same time use the one that was stored first. */
  async #account({ settings: { directory, externalAccount }, seal }: Managed): Promise<string> {
    const id = digestOf(["account", directory, externalAccount?.id ?? "", seal.keyId])
    const { database } = this.#settings
    const stored =
      (await findAcmeAccount(database, id)) ??
      (await keepAccount(database, id, seal.close(id, await newPrivateKey())))
    return seal.open(id, stored)
  }

  async #lookUp(by: Parameters<typeof findResponse>[1]): Promise<string | undefined> {
    if (this.#lookups >= lookupsMax) return undefined
    this.#lookups += 1
    try {
      return await findResponse(this.#settings.database, by)
    } catch {
      return undefined
    } finally {
      this.#lookups -= 1
    }
  }
}

function orderOf({ hosts, directory, contact, challenge, externalAccount, ca }: AcmeSettings): OrderSettings {
  return { hosts, directory, contact, challenge, externalAccount, ca }
}

function isPast(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && atMs <= nowMs
}

/** Another list of hosts, another authority and another secret are another certificate. */
function idOf({ hosts, directory, externalAccount }: AcmeSettings, { keyId }: Seal): string {
  return digestOf([directory, externalAccount?.id ?? "", keyId, ...hosts.toSorted()])
}

/** The settings on which the outcome of an order depends, and which are not in the id. */
function triedOf({ challenge, contact, externalAccount, ca }: AcmeSettings, seal: Seal): string {
  return seal.mark(JSON.stringify([challenge, contact, externalAccount?.key, ca]))
}

function digestOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url")
}

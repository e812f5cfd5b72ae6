/** Both answers a tuple can give, as bits. */
const absent = 1
const present = 2

const bitOf = (is: boolean) => (is ? present : absent)

/** What clients know of one tuple. Each tuple has one writer, who writes it once and may delete it once. */
interface Register {
  readonly name: string
  /** Bits of the states that it may have now. */
  possible: number
  /** States that a database without the withheld commits may have; 0 while nothing is withheld. */
  kept: number
  /** Changes of `possible`. */
  version: number
  /** The last change that was not acknowledged: it may have taken effect, or still take it. */
  unsure: Write | undefined
  /** Token of the last change that was acknowledged, and whether its commit may be lost. */
  token: { readonly text: string; readonly isUnsafe: boolean } | undefined
  readonly reads: Set<Read>
}

/** A change that a client has sent. */
export interface Write {
  readonly register: Register
  readonly to: boolean
  /** Number of losses that had begun or ended before. */
  readonly losses: number
}

/** A question that a client has sent. */
export interface Read {
  readonly register: Register
  readonly version: number
  readonly token: Register["token"]
  /** Bits of the states that the tuple may have had since. */
  seen: number
}

/**
 * The states that each tuple can have, by what clients sent and got: a linearizable register for each tuple, and a database that may lose the
 * commits of a known time. An answer is right if it was the state of the tuple at some moment between question and answer.
 */
export class TupleOracle {
  /** What was answered wrongly, in words. */
  readonly wrong: string[] = []
  /** Changes that may have been lost, as `write user:a order:1`. */
  readonly mayBeLost = new Set<string>()
  readonly #registers = new Map<string, Register>()
  #losses = 0
  #withholding: "no" | "beginning" | "begun" = "no"

  get names(): readonly string[] {
    return [...this.#registers.keys()]
  }

  /** Number of losses that have begun or ended. */
  get losses(): number {
    return this.#losses
  }

  /** A client sends a change. Nobody else may change this tuple until it has ended. */
  beginWrite(name: string, to: boolean): Write {
    const register = this.#register(name)
    const write = { register, to, losses: this.#losses }
    register.unsure = write
    if (this.#withholding !== "no") this.mayBeLost.add(changeText(write))
    this.#set(register, register.possible | bitOf(to))
    return write
  }

  /** The change was acknowledged. */
  done({ register, to, losses }: Write, token: string): void {
    const isUnsafe = this.#withholding !== "no" || losses !== this.#losses
    register.token = { text: token, isUnsafe }
    // What was sent before a loss and acknowledged after it may be lost or not.
    if (losses !== this.#losses) return
    register.unsure = undefined
    this.#set(register, bitOf(to))
  }

  beginRead(name: string): Read {
    const register = this.#register(name)
    const read = { register, version: register.version, token: register.token, seen: register.possible }
    register.reads.add(read)
    return read
  }

  /** The answer to a question with HIGHER_CONSISTENCY; undefined: there was none. */
  endRead(read: Read, found: boolean | undefined, who: string): void {
    const { register, version } = read
    register.reads.delete(read)
    if (found === undefined) return
    if ((read.seen & bitOf(found)) === 0)
      this.wrong.push(`${who} says ${found} for ${register.name}, which it cannot have been`)
    if (version !== register.version || register.possible !== (absent | present)) return
    // What was seen once stays so, unless a change that is still under way comes.
    if (register.unsure === undefined) this.#set(register, bitOf(found))
    else if (register.unsure.to === found) this.#set(register, bitOf(found))
  }

  /** The answer to a question with the token of the last change; "lost": the token was refused, as `history_lost`. */
  endTokenRead(read: Read, found: boolean | "lost" | undefined, who: string): void {
    const { register, token } = read
    register.reads.delete(read)
    if (found === undefined || token === undefined) return
    const isUnsafe = token.isUnsafe || register.token?.isUnsafe === true
    if (isUnsafe) return
    if (found === "lost")
      this.wrong.push(`${who} says that the token of ${register.name} is of a lost commit`)
    else if ((read.seen & bitOf(found)) === 0)
      this.wrong.push(`${who} says ${found} for ${register.name} to its token, which is older than the token`)
  }

  /** The database begins to withhold commits from its standby: from now on a commit may be lost. */
  beginWithholding(): void {
    this.#withholding = "beginning"
    for (const register of this.#registers.values()) {
      register.kept = register.possible
      if (register.unsure !== undefined) this.mayBeLost.add(changeText(register.unsure))
    }
  }

  /** The standby gets nothing any more. */
  withhold(): void {
    this.#withholding = "begun"
  }

  /** The primary is about to die, and with it what was withheld. */
  beginLoss(): void {
    this.#losses++
    for (const register of this.#registers.values())
      this.#set(register, register.possible | (register.kept || absent))
  }

  /** It is dead. */
  lost(): void {
    this.#losses++
    this.#withholding = "no"
    for (const register of this.#registers.values()) {
      const { unsure, kept } = register
      this.#set(register, (kept || absent) | (unsure === undefined ? 0 : bitOf(unsure.to)))
      register.kept = 0
    }
  }

  /** Nothing is under way any more: the database itself says what is. */
  resolve(stored: ReadonlySet<string>): void {
    for (const register of this.#registers.values()) {
      const is = stored.has(register.name)
      if ((register.possible & bitOf(is)) === 0)
        this.wrong.push(`${register.name} is ${is ? "stored" : "not stored"}, against what was acknowledged`)
      register.unsure = undefined
      this.#set(register, bitOf(is))
    }
  }

  /** A token whose answer is certain after `resolve`, if there is one: the commit was acknowledged when none could be lost. */
  safeToken(name: string): string | undefined {
    const token = this.#registers.get(name)?.token
    return token?.isUnsafe === false ? token.text : undefined
  }

  /** Tokens of commits that may have been lost. */
  unsafeTokens(): ReadonlyMap<string, string> {
    const tokens = new Map<string, string>()
    for (const { name, token } of this.#registers.values())
      if (token?.isUnsafe === true) tokens.set(name, token.text)
    return tokens
  }

  /** Forgets all tuples. */
  clear(): void {
    this.#registers.clear()
    this.mayBeLost.clear()
  }

  #register(name: string): Register {
    let register = this.#registers.get(name)
    if (register === undefined) {
      const kept = this.#withholding === "no" ? 0 : absent
      register = {
        ...{ name, possible: absent, kept, version: 0 },
        ...{ unsure: undefined, token: undefined, reads: new Set<Read>() },
      }
      this.#registers.set(name, register)
    }
    return register
  }

  #set(register: Register, possible: number): void {
    if (register.possible === possible) return
    register.possible = possible
    register.version++
    if (this.#withholding === "beginning") register.kept |= possible
    for (const read of register.reads) read.seen |= possible
  }
}

const changeText = ({ register, to }: Write) => `${to ? "write" : "delete"} ${register.name}`

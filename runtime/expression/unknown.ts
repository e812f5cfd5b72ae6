/** The result of an expression that depends on unknown parameters, in partial evaluation of conditions. */
export class UnknownValue {
  readonly names: ReadonlySet<string>

  constructor(names: Iterable<string>) {
    this.names = new Set(names)
  }

  /** An unknown that depends on the names of both. */
  and(other: UnknownValue | undefined): UnknownValue {
    return other === undefined || other === this ? this : new UnknownValue([...this.names, ...other.names])
  }
}

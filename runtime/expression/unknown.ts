/** A value that depends on parameters which are not known. It takes the place of a value where conditions are evaluated partially. */
export class UnknownValue {
  readonly names: ReadonlySet<string>

  constructor(names: Iterable<string>) {
    this.names = new Set(names)
  }

  /** What depends on both. */
  and(other: UnknownValue | undefined): UnknownValue {
    return other === undefined || other === this ? this : new UnknownValue([...this.names, ...other.names])
  }
}

/** A value that depends on parameters which are not known. It takes the place of a value where conditions are evaluated partially. */
export class Unknown {
  readonly names: ReadonlySet<string>

  constructor(names: Iterable<string>) {
    this.names = new Set(names)
  }

  /** What depends on both. */
  and(other: Unknown | undefined): Unknown {
    return other === undefined || other === this ? this : new Unknown([...this.names, ...other.names])
  }
}

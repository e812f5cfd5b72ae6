/** The name in `${name}`, if there is nothing else. */
export function soleName(source: string): string | undefined {
  return /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*$/.exec(source)?.[1]
}

/** A header as people write it: `name: value`. Undefined: the line has another form. */
export function readHeaderLine(line: string): readonly [name: string, value: string] | undefined {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(line) ?? []
  return name === undefined || value === undefined ? undefined : [name, value]
}

/** Bodies that take long to work on, made to a number of bytes. */
export const bodies: Readonly<Record<string, { readonly media: string; make(bytes: number): string }>> = {
  numbers: { media: "application/json", make: (bytes) => listOf("1", bytes) },
  objects: { media: "application/json", make: (bytes) => listOf("{}", bytes) },
  names: {
    media: "application/json",
    make: (bytes) => `{${counted(bytes, (index) => `"k${index}":0`)}}`,
  },
  records: {
    media: "application/json",
    make: (bytes) => listOf('{"id":12345,"name":"Alice Smith","price":12.5,"tags":["a","b"]}', bytes),
  },
  text: { media: "application/json", make: (bytes) => `"${"é中".repeat(bytes / 5 - 1)}"` },
  quotes: { media: "application/json", make: (bytes) => `"${'\\"'.repeat(bytes / 2 - 2)}"` },
  deep: { media: "application/json", make: (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2) },
  elements: { media: "application/xml", make: (bytes) => `<r>${"<a/>".repeat(bytes / 4 - 2)}</r>` },
  mixed: { media: "application/xml", make: (bytes) => `<r>${"a<b/>".repeat(bytes / 5 - 2)}</r>` },
  plain: { media: "text/plain", make: (bytes) => "a".repeat(bytes) },
}

function listOf(item: string, bytes: number): string {
  return `[${`${item},`.repeat((bytes - item.length - 2) / (item.length + 1))}${item}]`
}

function counted(bytes: number, make: (index: number) => string): string {
  const made: string[] = []
  for (let length = 2; length < bytes - 20; length += (made.at(-1) as string).length + 1)
    made.push(make(made.length))
  return made.join(",")
}

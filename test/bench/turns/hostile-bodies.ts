const form = "application/x-www-form-urlencoded"
const multipart = "multipart/form-data; boundary=cut"

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
  chat: {
    media: "application/json",
    make: (bytes) =>
      `{"messages":[{"role":"user","content":"${"some words, and more. ".repeat(bytes / 22)}"}]}`,
  },
  pairs: { media: form, make: (bytes) => counted(bytes, (index) => `k${index}=a`).replaceAll(",", "&") },
  same: { media: form, make: (bytes) => "list=1&".repeat(bytes / 7).slice(0, -1) },
  parts: { media: multipart, make: (bytes) => multipartOf(bytes / 80, "a") },
  part: { media: multipart, make: (bytes) => multipartOf(1, "a".repeat(bytes - 200)) },
  plain: { media: "text/plain", make: (bytes) => "a".repeat(bytes) },
}

function multipartOf(count: number, content: string): string {
  let made = ""
  for (let index = 0; index < count; index += 1)
    made += `--cut\r\nContent-Disposition: form-data; name="k${index}"\r\n\r\n${content}\r\n`
  return `${made}--cut--\r\n`
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

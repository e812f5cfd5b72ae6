// `node:path` of POSIX systems. The folder of a project is `/`.

export function resolve(...parts: readonly string[]): string {
  const names: string[] = []
  for (const part of parts) {
    if (part.startsWith("/")) names.length = 0
    for (const name of part.split("/")) {
      if (name === "..") names.pop()
      else if (name !== "" && name !== ".") names.push(name)
    }
  }
  return `/${names.join("/")}`
}

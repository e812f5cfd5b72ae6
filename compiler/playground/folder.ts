import { isPath } from "./link.ts"
import type { ProjectTexts } from "./protocol.ts"

/** Files that a project can have: texts of the compiler, tuples, documents. */
const known = /\.(?:conf|fga|mod|ya?ml|json|jsonl|csv|xml|graphql|txt)$/
const filesMax = 500
const bytesMax = 4_000_000

interface Found {
  readonly path: string
  readonly file: File
}

/** The texts of dropped files and folders, or of an input. Folders of packages and hidden files are left out. @throws Error too many, or none */
export async function textsOfDrop(items: DataTransferItemList): Promise<ProjectTexts> {
  // Entries must be taken before the first wait: then the list is emptied.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  return textsOf((await Promise.all(entries.map((entry) => filesBelow(entry, "")))).flat())
}

/** The texts of the files of an input. @throws Error too many, or none */
export function textsOfInput(files: FileList): Promise<ProjectTexts> {
  return textsOf([...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })))
}

async function textsOf(found: readonly Found[]): Promise<ProjectTexts> {
  const wanted = found.filter(
    ({ path }) => known.test(path) && !/(?:^|\/)(?:\.|node_modules\/)/.test(path) && isPath(path),
  )
  if (wanted.length === 0)
    throw new Error("there is no file of a project: gateway.conf, *.fga, *.fga.yaml, tuples or documents")
  if (wanted.length > filesMax)
    throw new Error(`there are ${wanted.length} files; the maximum is ${filesMax}`)
  if (wanted.reduce((sum, { file }) => sum + file.size, 0) > bytesMax)
    throw new Error("the files have more than 4 MB together")
  const prefix = commonFolder(wanted.map(({ path }) => path))
  const texts = await Promise.all(
    wanted.map(async ({ path, file }) => [path.slice(prefix.length), await file.text()] as const),
  )
  return Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The folder that was dropped: paths of a project start below it. */
function commonFolder(paths: readonly string[]): string {
  const first = paths[0]?.split("/")[0] ?? ""
  return paths.every((path) => path.startsWith(`${first}/`)) ? `${first}/` : ""
}

async function filesBelow(entry: FileSystemEntry, folder: string): Promise<Found[]> {
  const path = folder + entry.name
  if (isFile(entry)) return [{ path, file: await new Promise<File>((done, fail) => entry.file(done, fail)) }]
  if (!isFolder(entry) || /^(?:\.|node_modules$)/.test(entry.name)) return []
  const reader = entry.createReader()
  const inside: FileSystemEntry[] = []
  for (;;) {
    // A call returns at most 100 entries.
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail))
    if (some.length === 0 || inside.length > filesMax) break
    inside.push(...some)
  }
  return (await Promise.all(inside.map((each) => filesBelow(each, `${path}/`)))).flat()
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

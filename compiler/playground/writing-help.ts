import { MemoryFiles } from "../core/files.ts"
import type { LanguageService } from "../service/language-service.ts"
import type { ProjectTexts, ShownCompletion, ShownHover } from "./protocol.ts"

/** Proposals in a list, at most: nobody reads more. */
const itemsMax = 200

/** What the language service knows about the project that was opened last. It is loaded for the first question. */
export class WritingHelp {
  #texts: ProjectTexts = {}
  #service: LanguageService | undefined

  /** The texts of the project. The service keeps what has not changed. */
  open(texts: ProjectTexts): void {
    const paths = Object.keys(texts)
    const isSame =
      paths.length === Object.keys(this.#texts).length && paths.every((path) => path in this.#texts)
    this.#texts = texts
    // The files of a project do not change while it is edited; another project needs another service.
    if (!isSame) this.#service = undefined
    for (const path of paths) this.#service?.set(path, texts[path] ?? "")
  }

  /** What can be written at an offset of a text. */
  async complete(path: string, text: string, offset: number): Promise<readonly ShownCompletion[]> {
    const service = await this.#of(path, text)
    const found = await service.completion(path, offset)
    return found.slice(0, itemsMax).map(({ label, kind, detail, docs, insert = label, replaces }) => ({
      ...{ label, kind, detail, docs, insert },
      ...{ start: replaces.start, end: replaces.end },
    }))
  }

  /** What is known of the text at an offset. */
  async hover(path: string, text: string, offset: number): Promise<ShownHover | undefined> {
    const found = await (await this.#of(path, text)).hover(path, offset)
    if (found === undefined) return undefined
    return { start: found.span.start, end: found.span.end, markdown: found.markdown }
  }

  async #of(path: string, text: string): Promise<LanguageService> {
    if (this.#service === undefined) {
      const { LanguageService: Service } = await import("../service/language-service.ts")
      const service = new Service(new MemoryFiles(Object.entries(this.#texts)), "gateway.conf")
      for (const [each, content] of Object.entries(this.#texts)) service.set(each, content)
      this.#service = service
    }
    this.#service.set(path, text)
    return this.#service
  }
}

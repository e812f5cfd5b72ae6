// What a page has nothing for. The gateway of a playground asks doubles instead of servers, so none of these is called unless a plan
// needs files of certificates or processes.

/** A function that says that a browser does not have it. */
export function absent(name: string): (...values: unknown[]) => never {
  return () => {
    throw new Error(`\`${name}\` does not exist in a browser; use \`sallyport try request\` instead`)
  }
}

/** A class of which there are no instances. */
export function absentClass(name: string): new (...values: unknown[]) => object {
  return class {
    constructor() {
      absent(name)()
    }
  }
}

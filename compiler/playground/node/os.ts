// `node:os`.

export const hostname = (): string => "playground"
export const networkInterfaces = (): object => ({})
/** There are no further threads for large bodies. */
export const availableParallelism = (): number => 1

import { readFileSync } from 'node:fs'

const DOCKERFILE = new URL('../../Dockerfile', import.meta.url)

/** The variables that the Dockerfile sets for every process in the image. */
export function imageEnv(): Readonly<Record<string, string>> {
  const lines = readFileSync(DOCKERFILE, 'utf8').matchAll(/^ENV (\w+)=(\S+)$/gm)
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
}

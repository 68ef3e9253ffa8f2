import type { OutputTarget } from '../../src/managed/descriptor/descriptor.ts'

/** `spec.output` as a test reads it, whatever the kind. */
export interface WithOutput {
  readonly output?: { readonly secret?: Named; readonly configMap?: Named }
}

interface Named {
  readonly name?: string
  readonly key?: string
}

/** Where a spec wants its token, by the defaults that its page names. */
export function tokenPlaceIn(spec: object, resource: string): { readonly name: string; readonly key: string } {
  const { name = resource, key = 'token' } = (spec as WithOutput).output?.secret ?? {}
  return { name, key }
}

/** Where a spec wants its texts; undefined when it wants none. */
export function outputIn(spec: object): OutputTarget | undefined {
  const { secret, configMap } = (spec as WithOutput).output ?? {}
  if (secret?.name !== undefined) return { kind: 'Secret', name: secret.name }
  return configMap?.name === undefined ? undefined : { kind: 'ConfigMap', name: configMap.name }
}

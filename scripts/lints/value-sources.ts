import { type Lint, placesOf } from './lint.ts'

const sources = new Set(['secretKeyRef', 'configMapKeyRef', 'fieldRef'])

/**
 * A field `…From` names the source of a value: a key of a Secret or ConfigMap, or a field of the Pod, as in the core
 * API.
 */
export const fromNamesSources: Lint = (kinds) =>
  placesOf(kinds)
    .filter(({ place, name }) => name.endsWith('From') && place.endsWith(`.${name}`))
    .filter(({ node }) => {
      const members = Object.keys(node.properties ?? {})
      return members.length === 0 || members.some((member) => !sources.has(member))
    })
    .map(({ place, name }) => ({
      place,
      problem: `is not a source of a value: give it secretKeyRef or configMapKeyRef, or a name without From, such as ${name.slice(0, -4)}Source`,
    }))

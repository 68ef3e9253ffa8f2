import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import { LONGEST_REQUEST } from '../../../../src/managed/descriptor/text-schemas.ts'
import { openRequest, type Request, requestOf } from '../../../../src/managed/run/requests.ts'
import { cr } from '../../../builders/custom-resource.ts'

const REQUESTS: readonly (readonly [Request, string, string])[] = [
  ['reconcile', 'culvert.dev/reconcile-requested-at', 'lastHandledReconcileAt'],
  ['rotate', 'culvert.dev/rotate-requested-at', 'lastHandledRotateAt'],
  ['confirmIdentity', 'culvert.dev/confirm-identity-requested-at', 'lastHandledConfirmIdentityAt'],
]

describe.each(REQUESTS)('a request to %s', (request, annotation, answer) => {
  const asking = (value: string, status?: Record<string, string>) =>
    cr({ annotations: { [annotation]: value } }, status)

  test('is open until its value is answered', () => {
    expect(openRequest(cr({}), request)).toBeUndefined()
    expect(openRequest(cr({}, { [answer]: 'one' }), request)).toBeUndefined()
    expect(openRequest(asking('two'), request)).toBe('two')
    expect(openRequest(asking('two', { [answer]: 'one' }), request)).toBe('two')
    expect(openRequest(asking('two', { [answer]: 'two' }), request)).toBeUndefined()
  })

  test('is none without a value', () => {
    expect(requestOf(asking(''), request)).toBeUndefined()
    expect(openRequest(asking('', { [answer]: 'one' }), request)).toBeUndefined()
  })

  test('counts as far as a status can repeat it', () => {
    const long = 'x'.repeat(LONGEST_REQUEST + 1)
    expect(requestOf(asking(long), request)).toBe(long.slice(1))
    expect(openRequest(asking(long, { [answer]: long.slice(1) }), request)).toBeUndefined()
  })

  test('is answered in a status field that says so', () => {
    const fields = kinds.flatMap(({ definition }) => Reflect.get(definition.status.properties, answer) ?? [])
    expect(fields).not.toEqual([])
    for (const field of fields) {
      expect(field).toMatchObject({ maxLength: LONGEST_REQUEST, description: expect.stringContaining(annotation) })
    }
  })
})

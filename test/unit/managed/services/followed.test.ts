import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { SERVICE_PROBLEM } from '../../../../src/managed/names.ts'
import { noteFor, withService } from '../../../../src/managed/services/followed.ts'

const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'uid-1', controller: true }
const ready = { type: 'Ready', status: 'True', reason: 'Available', message: 'works' } as const

function edge(note: string | undefined, ownerReferences: readonly object[] = [owner]): CustomResource {
  const annotations = note === undefined ? {} : { [SERVICE_PROBLEM]: note }
  const metadata = { name: 'web-80', namespace: 'shop', uid: 'u', resourceVersion: '1', annotations, ownerReferences }
  return { apiVersion: 'culvert.dev/v1alpha1', kind: 'Edge', metadata, spec: {} } as unknown as CustomResource
}

test('an Edge says what its Service has noted, whatever that is', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (message) => {
      const told = withService([ready], edge(noteFor({ reason: 'InvalidSpec', message })))
      const condition = {
        type: 'ServiceFollowed',
        status: 'False',
        reason: 'InvalidSpec',
        message: message.toWellFormed(),
      }
      expect(told).toEqual([ready, condition])
    }),
  )
})

test('an Edge says nothing more once the note is gone', () => {
  const told = withService([ready], edge(noteFor({ reason: 'InvalidSpec', message: 'why' })))
  expect(withService(told, edge(undefined))).toEqual([ready])
})

test('a note that is copied to an Edge of no Service, or says no reason, means nothing', () => {
  const note = noteFor({ reason: 'InvalidSpec', message: 'why' })
  expect(withService([ready], edge(note, []))).toEqual([ready])
  for (const text of ['', 'why', 'Because: why', 'toString: why']) {
    expect(withService([ready], edge(text))).toEqual([ready])
  }
})

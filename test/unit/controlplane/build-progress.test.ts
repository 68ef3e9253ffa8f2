import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BuildProgress, formatDuration } from '../../../controlplane/build-progress.ts'

const OUTPUT = [
  'go: downloading k8s.io/kubernetes v1.36.3',
  'go: downloading golang.org/x/sys v0.40.0',
  'internal/goarch',
  'k8s.io/kubernetes/pkg/apis/core/v1',
  'github.com/go-logr/logr',
  '# culvert/controlplane',
  './main.go:12:2: undefined: nothing',
  '',
].join('\n')

it('counts packages and keeps the errors, however the output is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(OUTPUT.length)), (cuts) => {
      const progress = new BuildProgress(2711)
      const edges = [0, ...cuts.sort((a, b) => a - b), OUTPUT.length]
      for (let index = 1; index < edges.length; index++) progress.read(OUTPUT.slice(edges[index - 1], edges[index]))
      expect(progress.summary()).toBe('compiled 3 of at most 2711 packages')
      expect(progress.complaints()).toBe('# culvert/controlplane\n./main.go:12:2: undefined: nothing')
    }),
  )
})

it('counts modules before there is anything to compile', () => {
  const progress = new BuildProgress()
  progress.read('go: downloading k8s.io/api v0.36.3\n')
  expect(progress.summary()).toBe('fetched 1 modules')
})

it('keeps the end of a long complaint', () => {
  const progress = new BuildProgress()
  for (let line = 1; line <= 100; line++) progress.read(`error: number ${line}\n`)
  const complaints = progress.complaints().split('\n')
  expect(complaints).toHaveLength(40)
  expect(complaints.at(-1)).toBe('error: number 100')
})

it.each([
  [400, '0 s'],
  [59_400, '59 s'],
  [59_600, '1 min 0 s'],
  [391_000, '6 min 31 s'],
])('writes %i ms as %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
})

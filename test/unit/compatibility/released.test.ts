import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { incompatibilities } from '../../releases/compatibility/definitions.ts'
import { CRDS, RELEASES } from '../../releases/release.ts'
import { acceptedTightenings, definitionsIn, releasedVersions, versionsIn } from '../../releases/released.ts'

const crds = await definitionsIn(fileURLToPath(new URL('../../../crds', import.meta.url)))
const versions = await releasedVersions()
const found = await Promise.all(
  versions.map(async (version) => {
    const released = await definitionsIn(join(RELEASES, version, CRDS))
    return incompatibilities(released, crds).map((each) => ({ version, ...each }))
  }),
)

const isAccepted = ({ path, what }: { readonly path: string; readonly what: string }): boolean =>
  acceptedTightenings.some((accepted) => accepted.path === path && accepted.what === what)

test('the CRDs take nothing from those who use a released version', () => {
  expect(found.flat().filter((each) => each.sort !== 'tightened' || !isAccepted(each))).toEqual([])
})

test('every accepted tightening is one', () => {
  const unused = acceptedTightenings.filter(
    ({ path, what }) => !found.flat().some((each) => each.path === path && each.what === what),
  )
  expect(unused).toEqual([])
})

test('the CRDs are compatible with themselves', () => {
  expect(incompatibilities(crds, crds)).toEqual([])
})

test('a version is released once the changelog has a heading for it', () => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n- Soon.\n\n## [0.2.0-rc.1] - 2027-01-02\n\n## [0.1.0] - 2026-12-01\n'
  expect(versionsIn(changelog)).toEqual(['0.2.0-rc.1', '0.1.0'])
  expect(versionsIn('# Changelog\n\n## [Unreleased]\n')).toEqual([])
})

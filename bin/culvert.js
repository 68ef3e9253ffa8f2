#!/usr/bin/env node
// Checks the version of Node before anything else is loaded: older ones fail on syntax, with messages that help nobody.
import { existsSync } from 'node:fs'

const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  console.error(
    `culvert needs Node 24 or newer; this is ${process.versions.node}. Install it, or run through npm: npm run culvert`,
  )
  process.exit(1)
}
const built = new URL('../dist/main.js', import.meta.url)
await import(existsSync(built) ? built.href : new URL('../src/main.ts', import.meta.url).href)

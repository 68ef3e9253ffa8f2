import { Command } from 'commander'
import { askCluster, clusterOptions } from './cluster/ask-cluster.ts'
import { duration, outputOption } from './flags.ts'
import { type ActionFlags, runSessionAction, type SessionAction } from './sessions/action.ts'
import { runSessions, type SessionsFlags } from './sessions/list.ts'

/** `culvert sessions`: agents that are connected. */
export function sessionsCommand(): Command {
  const update = actionCommand('update', {
    description: 'Let agents update themselves within their major version; the new code runs after a restart.',
    examples: ['culvert sessions update -l culvert.dev/os=linux --restart', 'culvert sessions update NAME --wait'],
  }).option('--restart', 'restart them as well, at least 10 s after the update', false)
  return new Command('sessions')
    .description('Tunnel sessions, that is agents that are connected: list them, and restart, stop or update them.')
    .addCommand(listCommand())
    .addCommand(
      actionCommand('restart', {
        description:
          'Let agents replace their process: each has a session with another id afterwards. Not supported on Windows.',
        examples: [
          'culvert sessions restart NAME -n web --wait',
          "culvert sessions restart -l 'culvert.dev/os!=windows'",
        ],
      }),
    )
    .addCommand(
      actionCommand('stop', {
        description: 'Let agents exit. What starts them again is up to their hosts.',
        examples: ['culvert sessions stop NAME -n web', 'culvert sessions stop -l culvert.dev/region=eu --yes --wait'],
      }),
    )
    .addCommand(update)
}

function listCommand(): Command {
  return outputOption(clusterOptions(new Command('list')))
    .description('List the online tunnel sessions that accounts with mirrorSessions show as TunnelSessions.')
    .option('-A, --all-namespaces', 'list the sessions of all namespaces', false)
    .option('-l, --selector <labels>', 'only those with these labels, such as culvert.dev/os=linux')
    .addHelpText(
      'after',
      '\nExamples:\n  culvert sessions list -n web\n  culvert sessions list -l culvert.dev/os=linux\n',
    )
    .action((flags: SessionsFlags) => askCluster(flags, (cluster) => runSessions(cluster, flags)))
}

const NOTES = `
It creates a TunnelSessionCommand for each named session, or one for all that the selector selects in an account. Each
request is sent at most once. The result stays in its status for as long as --ttl says.

Exit codes: 0 asked, with --wait also done; 1 not asked, or with --wait not all done; 2 not over within --timeout.`

function actionCommand(
  action: SessionAction,
  { description, examples }: { readonly description: string; readonly examples: readonly string[] },
): Command {
  return clusterOptions(new Command(action))
    .description(`${description} Shows the sessions and asks first.`)
    .argument('[session...]', 'names of sessions or their beginnings, or ids, as culvert sessions list shows them')
    .option('-l, --selector <labels>', 'all sessions of the namespace with these labels')
    .option('--yes', 'do not ask', false)
    .option('--ttl <time>', 'how long the result is kept once it is over', '1h')
    .option('--wait', 'show what happens until it is over', false)
    .option('--timeout <time>', 'how long --wait waits for each command', duration, 120_000)
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}${NOTES}`)
    .action((args: readonly string[], flags: ActionFlags) => {
      return askCluster(flags, (cluster) => runSessionAction(cluster, action, args, flags))
    })
}

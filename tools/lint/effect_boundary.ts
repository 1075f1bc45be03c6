/** Rule `effect-boundary`: the outside world is reached through ports that are passed in. */

import {
  EFFECT_GLOBALS,
  EFFECT_MEMBERS,
  EFFECT_MODULES,
  GLOBAL_OBJECTS,
  ownsEffects,
} from "./effects.ts";
import { isReference, literalText, propertyName } from "./reference.ts";

type Report = (node: Deno.lint.Node, what: string, owner: string) => void;

/** Reports every way to an ambient effect outside of the files that own it. */
export const effectBoundary: Deno.lint.Rule = {
  create(context) {
    if (ownsEffects(context.filename)) return {};
    const seen = new Set<number>();
    const report: Report = (node, what, owner) => {
      // A shorthand property is visited twice, as key and as value.
      if (seen.has(node.range[0])) return;
      seen.add(node.range[0]);
      context.report({ node, message: `${what} is an ambient effect`, hint: `Use ${owner}` });
    };
    return { ...nameVisitor(report), ...moduleVisitor(report) };
  },
};

function nameVisitor(report: Report): Deno.lint.LintVisitor {
  return {
    Identifier(node) {
      if (GLOBAL_OBJECTS.has(node.name)) return reportGlobalObject(node, report);
      const owner = EFFECT_GLOBALS.get(node.name);
      if (owner !== undefined && isReference(node)) report(node, node.name, owner);
    },
    MemberExpression(node) {
      const object = globalName(node.object);
      const name = `${object}.${propertyName(node)}`;
      const owner = EFFECT_MEMBERS.get(name);
      if (owner !== undefined) report(node, name, owner);
    },
    VariableDeclarator(node) {
      if (node.init === null || node.id.type !== "ObjectPattern") return;
      const object = globalName(node.init);
      for (const property of node.id.properties) {
        if (property.type !== "Property") continue;
        const name = `${object}.${propertyName(property)}`;
        const owner = EFFECT_MEMBERS.get(name);
        if (owner !== undefined) report(property, name, owner);
      }
    },
    NewExpression(node) {
      if (globalName(node.callee) !== "Date" || node.arguments.length > 0) return;
      report(node, "new Date()", "Clock.now (lib/sys/clock.ts)");
    },
    CallExpression(node) {
      // Called without `new` it ignores its arguments and tells the time.
      if (globalName(node.callee) !== "Date") return;
      report(node, "Date()", "Clock.now (lib/sys/clock.ts)");
    },
  };
}

/** `globalThis.Intl` is harmless; `globalThis.fetch`, `globalThis[name]` and `f(globalThis)` are not. */
function reportGlobalObject(node: Deno.lint.Identifier, report: Report): void {
  if (!isReference(node)) return;
  const { parent } = node;
  if (parent.type !== "MemberExpression" || parent.object.range[0] !== node.range[0]) {
    return report(node, `${node.name} as a value`, "the one thing you need, as a parameter");
  }
  const name = propertyName(parent);
  if (name === undefined) {
    return report(parent, `${node.name}[…]`, "the one thing you need, as a parameter");
  }
  const owner = EFFECT_GLOBALS.get(name);
  if (owner !== undefined) report(parent, `${node.name}.${name}`, owner);
}

/** `Date` for `Date` and for `globalThis.Date`. */
function globalName(node: Deno.lint.Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return undefined;
  return GLOBAL_OBJECTS.has(node.object.name) ? propertyName(node) : undefined;
}

function moduleVisitor(report: Report): Deno.lint.LintVisitor {
  const check = (node: Deno.lint.Node, source: string | undefined) => {
    if (source !== undefined && EFFECT_MODULES.test(source)) {
      report(node, `Import of ${source}`, "lib/sys");
    }
  };
  return {
    ImportDeclaration(node) {
      if (node.importKind !== "type") check(node, node.source.value);
    },
    ImportExpression(node) {
      check(node, literalText(node.source));
    },
    ExportAllDeclaration(node) {
      if (node.exportKind !== "type") check(node, node.source.value);
    },
    ExportNamedDeclaration(node) {
      if (node.exportKind !== "type") check(node, node.source?.value);
    },
  };
}

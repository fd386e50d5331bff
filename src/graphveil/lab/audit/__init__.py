"""Audits: how much of a claimed ε an observer of published series can refute."""

from graphveil.lab.audit.auditing import LONG, NORMAL, SMALL, Audit, AuditEffort, audit

__all__ = ["LONG", "NORMAL", "SMALL", "Audit", "AuditEffort", "audit"]

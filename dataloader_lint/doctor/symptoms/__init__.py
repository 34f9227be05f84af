"""From what was measured of a loader to what is wrong with it: each symptom names the rules that find such causes."""

from dataloader_lint.doctor.symptoms.every import program_symptoms, symptoms_of

__all__ = ["program_symptoms", "symptoms_of"]

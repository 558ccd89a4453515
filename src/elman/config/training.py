"""The sections of the two tasks: model and training."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from elman.config.section import Fraction, NonNegativeFloat, PositiveFloat, PositiveInt, Section, Share


class TrainingConfig(Section):
    """What both tasks' models and training share."""

    embedding_dim: PositiveInt
    units: PositiveInt
    num_layers: PositiveInt = 1
    embedding_dropout: Fraction = 0.0
    word_dropout: Fraction = 0.0
    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0
    dropout_kind: Literal["locked", "step"] = "locked"
    forget_bias: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    initializer: Literal["glorot_uniform", "uniform"] = "glorot_uniform"
    kernel_initializer: Literal["glorot_uniform", "uniform", "uniform_by_units"] | None = None
    recurrent_initializer: Literal["orthogonal", "glorot_uniform", "uniform", "uniform_by_units"] = "orthogonal"
    uniform_range: PositiveFloat = 0.1

    optimizer: Literal["sgd", "adam", "adamw"] = "adam"
    learning_rate: PositiveFloat
    weight_decay: NonNegativeFloat = 0.0
    schedule: Literal["constant", "halve", "plateau", "cosine"] = "constant"
    halve_after_epoch: Annotated[int, Field(ge=0)] = 4
    plateau_factor: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.25
    plateau_patience: Annotated[int, Field(ge=0)] = 0
    epochs: PositiveInt
    batch_size: PositiveInt
    global_clipnorm: PositiveFloat | None = None
    clipnorm: PositiveFloat | None = None
    early_stopping_patience: PositiveInt | None = None
    max_skipped_steps: PositiveInt = 3

    @model_validator(mode="after")
    def _check_training(self) -> Self:
        if self.weight_decay > 0.0 and self.optimizer != "adamw":
            raise ValueError(f"weight_decay needs the optimizer adamw; {self.optimizer} would ignore it")
        if self.global_clipnorm is not None and self.clipnorm is not None:
            raise ValueError(
                "global_clipnorm (the norm of all gradients together) and clipnorm (each variable alone) exclude each "
                "other; keep one"
            )
        return self


class ClassifierConfig(TrainingConfig):
    """The classifier."""

    max_length: Annotated[int, Field(ge=2)] = 256
    bidirectional: bool = False
    pooling: Literal["last", "mean", "max", "all"] = "last"
    adversarial_epsilon: NonNegativeFloat = 0.0
    label_fraction: Share = 1.0
    pretrain: Literal["none", "language_model"] = "none"
    unfreeze: Literal["all", "gradual"] = "all"
    rate_decay: Share = 1.0

    @property
    def by_layer(self) -> bool:
        """Whether layers are trained at rates of their own, or from different epochs on."""
        return self.unfreeze == "gradual" or self.rate_decay < 1.0

    @model_validator(mode="after")
    def _check_classifier(self) -> Self:
        if self.by_layer and self.pretrain == "none":
            raise ValueError(
                "unfreeze and rate_decay keep what layers have learned from the language model; with pretrain none "
                "there is nothing to keep: set pretrain to language_model, or unfreeze to all and rate_decay to 1.0"
            )
        if self.by_layer and self.optimizer != "adam":
            raise ValueError(f"unfreeze: gradual and rate_decay need the optimizer adam, but came {self.optimizer}")
        groups = self.num_layers + 2
        if self.unfreeze == "gradual" and self.epochs < groups:
            raise ValueError(
                f"unfreeze: gradual frees one of {groups} layers an epoch, the head first and the embedding last; "
                f"epochs is {self.epochs} and must be {groups} or more"
            )
        return self


class LanguageModelConfig(TrainingConfig):
    """The language model."""

    tie_embeddings: bool = False
    window_length: PositiveInt = 35
    state: Literal["document", "stream"] = "document"

    @model_validator(mode="after")
    def _check_language_model(self) -> Self:
        if self.tie_embeddings and self.embedding_dim != self.units:
            raise ValueError(
                f"tie_embeddings needs embedding_dim equal to units; they are {self.embedding_dim} and {self.units}"
            )
        return self
